// Search while typing: asks the same API as any program does.

import { ask, base, isTyping, make } from "./site.js";

const WAIT = 120;
const form = document.querySelector("[data-search]");
const field = form.elements.namedItem("q");
const results = form.querySelector("[data-results]");
const filters = form.querySelector("[data-filters]");
const groups = form.querySelector("[data-groups]");
const counted = form.querySelector("[data-counted]");
const welcome = results.querySelector(".welcome") ?? form.querySelector("[data-welcome]").content.firstElementChild;
const LABELS = [
  ["collections", "collection", "Collection"],
  ["types", "type", "Type"],
  ["years", "year", "Year"],
  ["folders", "folder", "Folder"],
];
let running = new AbortController();
let timer = 0;

// What is asked, as the address of the page has it.
function stated() {
  const kept = [...new FormData(form)].filter(([name, value]) => value.trim() && !(name === "mode" && value === "hybrid"));
  return new URLSearchParams(kept);
}

function asked(page) {
  const params = new URLSearchParams(page);
  const year = params.get("year");
  params.delete("year");
  if (year) {
    params.set("year_from", year);
    params.set("year_to", year);
  }
  return params;
}

function withoutOffset(params) {
  const kept = new URLSearchParams(params);
  kept.delete("offset");
  kept.delete("limit");
  return kept;
}

async function search({ push = false, offset = 0 } = {}) {
  clearTimeout(timer);
  timer = 0;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const page = stated();
  if (offset) page.set("offset", offset);
  const place = `${location.pathname}${page.size ? `?${page}` : ""}`;
  history[push ? "pushState" : "replaceState"](null, "", place);
  document.title = [page.get("q"), document.title.split(" · ").at(-1)].filter(Boolean).join(" · ");
  if (!page.get("q")) {
    filters.hidden = true;
    results.replaceChildren(welcome);
    return;
  }
  try {
    const params = asked(page);
    const found = await ask(`/api/search?${params}`, signal);
    show(found, offset);
    showFacets(await ask(`/api/facets?${withoutOffset(params)}`, signal), page);
  } catch (error) {
    if (error.name === "AbortError") return;
    showTrouble(error);
  }
}

function showTrouble(error) {
  const again = make("button", "Try again", { type: "button" });
  again.addEventListener("click", () => search());
  const text = error.status === 401 ? "You are not logged in any more; load the page anew." : error.message;
  results.replaceChildren(make("div", [make("h2", "That did not work"), make("p", text), again], { class: "empty", role: "alert" }));
}

function show(found, offset) {
  const parts = [];
  const count = found.total.toLocaleString("en");
  const citations = make("a", "citations", { href: `${base}/graph?${withoutOffset(asked(stated()))}` });
  const summary = found.hits.length ? [`${count} document${found.total === 1 ? "" : "s"} · `, citations] : [];
  parts.push(make("p", summary, { class: "summary", role: "status" }));
  const remarks = [...found.remarks];
  if (found.hits.length && found.relaxed.length) remarks.unshift(found.relaxed.join("; "));
  if (found.unreadable) {
    const link = make("a", "which and why", { href: `${base}/status` });
    const text = `${found.unreadable.toLocaleString("en")} of ${found.files.toLocaleString("en")} files in scope could not be read: `;
    remarks.push([text, link]);
  }
  parts.push(make("ul", remarks.map((each) => make("li", each)), { class: "remarks" }));
  if (found.hits.length) {
    parts.push(make("ol", found.hits.map(entry), { class: "hits", start: offset + 1 }));
    parts.push(paging(found, offset));
  } else {
    parts.push(nothing(found));
  }
  results.replaceChildren(...parts);
}

function entry(hit) {
  const pointer = hit.pointer?.toLowerCase() === hit.trail.at(-1)?.toLowerCase() ? "" : hit.pointer;
  const where = [...hit.trail, pointer].filter(Boolean).map((each) => make("span", each));
  const source = [make("span", hit.collection), make("span", hit.document)];
  if (hit.date) source.push(make("time", hit.date));
  return make("li", [
    make("a", hit.title, { href: hit.url }),
    make("p", where, { class: "where" }),
    make("p", marked(hit.snippet), { class: "snippet" }),
    make("p", source, { class: "source" }),
  ], { class: "hit", dir: "auto" });
}

// Marks count characters, JavaScript counts halves of some.
function marked(snippet) {
  const letters = [...snippet.text];
  const parts = snippet.cutBefore ? ["… "] : [];
  let at = 0;
  for (const [start, end] of snippet.marks) {
    parts.push(letters.slice(at, start).join(""), make("mark", letters.slice(start, end).join("")));
    at = end;
  }
  parts.push(letters.slice(at).join(""), snippet.cutAfter ? " …" : "");
  return parts;
}

function paging(found, offset) {
  const line = make("p", [], { class: "paging" });
  const step = (label, rel, to) => {
    const params = stated();
    if (to) params.set("offset", to);
    const link = make("a", label, { href: `?${params}`, rel });
    link.addEventListener("click", async (event) => {
      event.preventDefault();
      await search({ push: true, offset: to });
      scrollTo(0, 0);
    });
    line.append(link);
  };
  if (offset) step("← Previous", "prev", Math.max(0, offset - 10));
  if (offset + found.hits.length < Math.min(found.total, 900)) step("Next →", "next", offset + 10);
  return line;
}

function nothing(found) {
  const tips = [make("li", "Fewer or other words may find more.")];
  if (groups.querySelector("input:checked:not([value=''])")) {
    tips.push(make("li", make("a", "Search without filters", { href: `?${new URLSearchParams({ q: found.query })}` })));
  }
  tips.push(make("li", make("a", "Browse all documents", { href: `${base}/docs` })));
  const parts = [make("h2", `Nothing was found for “${found.query}”`)];
  if (found.relaxed.length) parts.push(make("p", `${found.relaxed.join("; ")}.`));
  if (found.suggestions.length) {
    const words = found.suggestions.flatMap((word) => [make("a", word, { href: `?${new URLSearchParams({ q: word })}` }), " "]);
    parts.push(make("p", ["Did you mean ", ...words, "?"]));
  }
  return make("div", [...parts, make("ul", tips)], { class: "empty" });
}

function showFacets(facets, page) {
  const shown = [];
  for (const [key, name, label] of LABELS) {
    const chosen = page.getAll(name);
    const known = new Set(facets[key].map((each) => each.value));
    const values = [...facets[key], ...chosen.filter((value) => !known.has(value)).map((value) => ({ value, count: 0 }))];
    if (values.length < 2 && !chosen.length) continue;
    const kind = name === "year" ? "radio" : "checkbox";
    const rows = values.map((each) => choice(kind, name, each.value, each.value, chosen.includes(each.value), each.count));
    if (kind === "radio") rows.unshift(choice(kind, name, "", "any", !chosen.length));
    shown.push(make("fieldset", [make("legend", label), ...rows]));
  }
  const focused = document.activeElement;
  const kept = groups.contains(focused) ? [focused.name, focused.value] : null;
  groups.replaceChildren(...shown);
  counted.textContent = facets.complete ? "" : "Counted among the best 1,000 matches.";
  filters.hidden = !shown.length;
  if (kept) [...groups.querySelectorAll("input")].find((each) => each.name === kept[0] && each.value === kept[1])?.focus();
}

function choice(type, name, value, label, checked, count) {
  const input = make("input", [], { type, name, value });
  input.checked = checked;
  const parts = [input, " ", make("span", label)];
  if (count !== undefined) parts.push(" ", make("small", count.toLocaleString("en")));
  return make("label", parts);
}

// Arrows walk from the field through the hits and back.
function walk(step) {
  const stops = [field, ...results.querySelectorAll(".hit > a")];
  const here = stops.indexOf(document.activeElement);
  const next = stops[Math.min(stops.length - 1, Math.max(0, here + step))];
  next.focus();
  next.closest(".hit")?.scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  running.abort();
  timer = setTimeout(search, WAIT);
});
form.addEventListener("change", (event) => {
  if (event.target !== field) search({ push: true });
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search({ push: true });
});
document.addEventListener("keydown", (event) => {
  const inFilters = isTyping(event) && event.target !== field;
  if (event.altKey || event.ctrlKey || event.metaKey || inFilters) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    walk(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    if (document.activeElement === field) {
      event.preventDefault();
      field.value = "";
      search();
    } else {
      field.focus();
    }
  } else if (event.key === "Enter" && event.target === field) {
    const first = results.querySelector(".hit > a");
    if (first && !timer) {
      event.preventDefault();
      first.click();
    }
  }
});
addEventListener("popstate", () => location.reload());
