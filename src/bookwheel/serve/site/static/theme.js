// Before anything is drawn: the reader's own choice of dark or light, if there is one.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* no storage, no choice */ }
