// Reading: the contents follow the scroll, and the words that were looked for are marked.

import { showIn } from "./site.js";

const text = document.querySelector("[data-text]");
const toc = document.querySelector("[data-toc]");

function follow() {
  const links = new Map([...toc.querySelectorAll("a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = [...text.querySelectorAll("h1[id], h2[id], h3[id]")].filter((each) => links.has(each.id));
  let waiting = false;
  const update = () => {
    waiting = false;
    const above = headings.filter((each) => each.getBoundingClientRect().top < 120);
    const here = (above.at(-1) ?? headings[0])?.id;
    for (const [id, link] of links) {
      if (id === here) {
        if (!link.hasAttribute("aria-current")) showIn(toc.closest(".margin"), link);
        link.setAttribute("aria-current", "true");
      } else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(update);
    waiting = true;
  }, { passive: true });
  update();
}

function mark(words) {
  if (!words.length || !("highlights" in CSS)) return;
  const ranges = [];
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
    const lowered = node.data.toLowerCase();
    if (lowered.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = lowered.indexOf(word); at >= 0; at = lowered.indexOf(word, at + word.length)) {
        if (/[\p{L}\p{N}]/u.test(lowered[at - 1] ?? "") ) continue;
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

// Every section can be pointed at.
function addAnchors() {
  for (const heading of text.querySelectorAll(":is(h1, h2, h3, h4, h5, h6)[id]")) {
    const link = document.createElement("a");
    link.className = "anchor";
    link.href = `#${encodeURIComponent(heading.id)}`;
    link.textContent = "#";
    link.setAttribute("aria-label", `Address of ${heading.textContent}`);
    heading.append(" ", link);
  }
}

if (text) {
  mark(JSON.parse(text.dataset.marked).map((word) => word.toLowerCase()).filter(Boolean));
  addAnchors();
  if (toc) follow();
  document.getElementById("bw-target")?.scrollIntoView({ block: "center", behavior: "instant" });
}
