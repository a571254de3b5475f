// The drawing of the citations: moved by dragging, zoomed by wheel, fingers and keys.

const place = document.querySelector("[data-graph]");
const form = document.querySelector("[data-graph-form]");

form.addEventListener("change", (event) => {
  if (event.target.name !== "q") form.requestSubmit();
});
// Words that were not typed say nothing.
form.addEventListener("submit", () => {
  for (const field of form.querySelectorAll("[name=q]")) field.disabled = !field.value.trim();
});

if (place) {
  const svg = place.querySelector("svg");
  let whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let view = [...whole];
  const fingers = new Map();
  let moved = 0;
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  document.querySelector("[data-hint]").hidden = false;

  const scale = () => {
    const box = svg.getBoundingClientRect();
    return Math.max(view[2] / box.width, view[3] / box.height);
  };

  // Labels are never smaller than they can be read: where not all have room, the most cited have it.
  const nodes = [...svg.querySelectorAll("g.n, g.r, g.o")];
  const spots = nodes.map((node) => {
    const circle = node.querySelector("circle");
    const [x, y, r] = ["cx", "cy", "r"].map((name) => Number(circle.getAttribute(name)));
    const lines = [...node.querySelectorAll(".l")];
    const side = Number(lines[0].getAttribute("y")) < y ? -1 : 1; // Labels stand below their node, or above it.
    circle.style.transformOrigin = `${x}px ${y}px`;
    for (const line of lines) line.style.transformOrigin = `${x}px ${y + side * r}px`;
    return { x, y, r, side, half: Math.max(...lines.map((line) => line.getComputedTextLength())) / 2, height: 4 + 15 * lines.length };
  });
  const weight = (at) => (nodes[at].matches(".r") ? 100 : 0) + Number(nodes[at].querySelector("circle").getAttribute("r"));
  const everyone = [...nodes.keys()].sort((one, two) => weight(two) - weight(one));

  const meet = (one, two) => one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3];

  function label(order = everyone) {
    const enlarged = Math.max(1, scale());
    const dot = Math.sqrt(enlarged);
    svg.style.setProperty("--enlarged", enlarged);
    svg.style.setProperty("--dot", dot);
    const taken = [];
    const named = new Set();
    for (const at of order) {
      const { x, y, r, side, half, height } = spots[at];
      const ends = [y + side * r, y + side * (r + height * enlarged)];
      const words = [x - half * enlarged, Math.min(...ends), x + half * enlarged, Math.max(...ends)];
      const circle = [x - r * dot, y - r * dot, x + r * dot, y + r * dot];
      if (enlarged > 1 && taken.some((other) => meet(words, other) || meet(circle, other))) continue;
      taken.push(words, circle);
      named.add(at);
    }
    nodes.forEach((node, at) => node.classList.toggle("mute", !named.has(at)));
    return named;
  }

  // What has a label is drawn above what has none, unless somebody is just there.
  function raise(named) {
    if (nodes.some((node) => node.matches(":hover")) || svg.contains(document.activeElement)) return;
    for (const at of named) svg.append(nodes[at].closest("a") ?? nodes[at]);
  }

  let waiting = false;
  function draw() {
    svg.setAttribute("viewBox", view.join(" "));
    if (!waiting) requestAnimationFrame(() => { waiting = false; raise(label()); });
    waiting = true;
  }

  function move(dx, dy) {
    view[0] -= dx * scale();
    view[1] -= dy * scale();
    draw();
  }

  function zoom(factor, x, y) {
    const box = svg.getBoundingClientRect();
    const width = Math.min(whole[2] * 3, Math.max(80, view[2] * factor));
    const real = width / view[2];
    const middle = [view[0] + view[2] / 2, view[1] + view[3] / 2];
    const held = x === undefined ? middle : [
      middle[0] + (x - box.left - box.width / 2) * scale(),
      middle[1] + (y - box.top - box.height / 2) * scale(),
    ];
    view = [held[0] - (held[0] - view[0]) * real, held[1] - (held[1] - view[1]) * real, width, view[3] * real];
    draw();
  }

  const spread = () => {
    const [one, two] = [...fingers.values()];
    return Math.hypot(one[0] - two[0], one[1] - two[1]);
  };

  place.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  place.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    moved = 0;
  });
  addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const apart = fingers.size === 2 ? spread() : 0;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    moved += Math.abs(event.clientX - before[0]) + Math.abs(event.clientY - before[1]);
    if (apart) zoom(apart / Math.max(1, spread()), event.clientX, event.clientY);
    else move(event.clientX - before[0], event.clientY - before[1]);
  });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => fingers.delete(event.pointerId));
  // A drag that began on a document is no wish to read it.
  place.addEventListener("click", (event) => {
    if (moved > 5) event.preventDefault();
  }, true);
  place.addEventListener("dragstart", (event) => event.preventDefault());
  place.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.target === place && steps[event.key]) move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") { view = [...whole]; draw(); }
    else return;
    event.preventDefault();
  });

  // Whoever is pointed at is shown with its neighbours.
  const arrows = [...svg.querySelectorAll("g:not(.n, .r, .o) > g")];
  const ties = JSON.parse(place.dataset.ties);
  const show = (chosen) => {
    place.classList.toggle("pointing", chosen >= 0);
    const near = new Set([chosen]);
    ties.forEach(([from, to], at) => {
      const own = from === chosen || to === chosen;
      arrows[at]?.classList.toggle("near", own);
      if (own) near.add(from).add(to);
    });
    nodes.forEach((node, at) => node.classList.toggle("near", near.has(at)));
    label(chosen < 0 ? everyone : [chosen, ...everyone.filter((at) => at !== chosen && near.has(at))]);
  };
  nodes.forEach((node, at) => {
    node.addEventListener("pointerenter", () => fingers.size || show(at));
    node.addEventListener("pointerleave", () => show(-1));
    node.closest("a")?.addEventListener("focus", () => show(at));
    node.closest("a")?.addEventListener("blur", () => show(-1));
  });

  // Enlarged labels at the rim reach further than the drawing: the view is widened until they fit.
  for (let round = 0; round < 4; round += 1) {
    const reaches = [...label()].map((at) => [spots[at].x, spots[at].half * Math.max(1, scale())]);
    const left = Math.min(view[0], ...reaches.map(([x, half]) => x - half));
    const right = Math.max(view[0] + view[2], ...reaches.map(([x, half]) => x + half));
    view = [left, view[1], right - left, view[3]];
  }
  whole = [...view];
  draw();
  new ResizeObserver(draw).observe(svg);
}
