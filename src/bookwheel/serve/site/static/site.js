// What every page does: keys, copying, dark and light.

const root = document.documentElement;
export const base = root.dataset.base;

export function say(text) {
  const place = document.querySelector("[data-said]");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => place.classList.remove("shown"), 2000);
}

export function make(tag, content, attributes = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...[content].flat().filter((each) => each !== null && each !== undefined));
  return element;
}

export async function ask(path, signal) {
  const answer = await fetch(`${base}${path}`, { signal, headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) {
    const error = body.error ?? { message: `The server answered ${answer.status}.` };
    throw Object.assign(new Error([error.message, error.hint].filter(Boolean).join(" ")), { status: answer.status });
  }
  return body;
}

// Scrolls a list, and nothing else, to one of its entries.
export function showIn(list, entry) {
  const [box, place] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (place.top < box.top || place.bottom > box.bottom) list.scrollTop += place.top - box.top - list.clientHeight / 2;
}

export const isTyping = (event) => event.target.closest("input, textarea, select, [contenteditable]") !== null;

function switchTheme() {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it lasts for this page */ }
}

async function copy(button) {
  try {
    const page = button.dataset.copyPage;
    const text = page ? await (await fetch(page)).text() : button.dataset.copy;
    await navigator.clipboard.writeText(text);
    say(button.dataset.copied);
  } catch {
    say("The browser does not allow copying here.");
  }
}

for (const button of document.querySelectorAll("[data-copy], [data-copy-page]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

const themeSwitch = document.querySelector("[data-theme-switch]");
themeSwitch.hidden = false;
themeSwitch.addEventListener("click", switchTheme);

// On a phone the lists beside the text begin closed.
if (matchMedia("(max-width: 60rem)").matches) {
  for (const list of document.querySelectorAll("[data-side], [data-filters]")) list.open = false;
}

const side = document.querySelector("[data-side]");
const current = side?.querySelector("[aria-current]");
if (current) showIn(side, current);

document.addEventListener("keydown", (event) => {
  const finder = document.querySelector("[data-finder], [data-search] [name=q]");
  if (event.key === "/" && finder && !isTyping(event) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    finder.focus();
    finder.select();
  }
  // The field of the search page has its own use for Esc.
  if (event.key === "Escape" && event.target.matches?.("[data-finder]")) event.target.blur();
});
