// How far indexing is, for as long as the page is looked at.

import { ask } from "./site.js";

const place = document.querySelector("[data-progress]");
const text = place.querySelector("[data-progress-text]");
const bar = place.querySelector("progress");
let wasIndexing = !bar.hidden;
const number = (value) => value.toLocaleString("en");

async function look() {
  if (document.hidden) return;
  try {
    const state = await ask("/api/status");
    if (wasIndexing && !state.indexing && state.ready) {
      location.reload(); // what was read, and what could not be, is known now
      return;
    }
    wasIndexing = Boolean(state.indexing);
    bar.hidden = !state.indexing;
    if (state.indexing) {
      const { done, total } = state.indexing;
      bar.max = total || 1;
      if (total) bar.value = done;
      else bar.removeAttribute("value");
      text.textContent = total ? `Indexing: ${number(done)} of ${number(total)} files found so far` : "Indexing";
    } else {
      const behind = "What changed lately cannot be indexed just now; the server's log says why.";
      const done = state.behind ? behind : "Everything is indexed.";
      text.textContent = state.ready ? done : "Nothing is indexed yet.";
    }
    for (const each of state.collections) {
      const count = [...document.querySelectorAll("[data-documents]")].find((item) => item.dataset.documents === each.name);
      if (count) count.textContent = number(each.documents);
    }
  } catch (error) {
    text.textContent = `The state is not known just now: ${error.message}`;
  }
}

setInterval(look, 2000);
