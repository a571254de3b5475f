// What every Node client does with a server, step by step; it tells what it saw as JSON.
// Nothing is judged here: test_clients.py does that.
import { renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PATIENCE = 20_000;

async function converse(talk, { folder, word }) {
  const { client } = talk;
  const seen = {
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools,
    templates: (await client.listResourceTemplates()).resourceTemplates,
  };
  const search = (args) => client.callTool({ name: "documents_search", arguments: args });
  seen.found = await search({ query: "zebra" });
  seen.progress = await searchTwice(talk);
  seen.misspelt = await search({ qery: "zebra" });
  seen.unknownTool = await failure(client.callTool({ name: "no_such_tool", arguments: {} }));
  seen.completed = await client.complete({
    ref: { type: "ref/resource", uri: seen.templates[0].uriTemplate },
    argument: { name: "path", value: "zeb" },
  });
  seen.pages = await readPages(talk);
  seen.read = await client.readResource({ uri: "docs://zebra.md" });
  seen.missing = await failure(client.readResource({ uri: "docs://missing.md" }));
  seen.changes = await changeThings(talk, folder, word);
  return seen;
}

// The client forgets whom to tell of progress when the answer is read in one go with the notice
// before it, as happens on a busy machine: then it is asked again.
async function searchTwice({ callTool }) {
  const progress = [];
  const queries = [{ query: "zebra" }, { query: "page" }];
  const call = { name: "documents_search_batch", arguments: { queries } };
  for (let times = 0; progress.length === 0 && times < 50; times++) {
    await callTool(call, { onprogress: (told) => progress.push(told) });
  }
  return progress;
}

// Calls what never ends, gives it up as soon as it tells of progress, and goes on to something else.
async function giveUp({ callTool }) {
  const call = new AbortController();
  const forever = callTool(
    { name: "wait", arguments: {} },
    { signal: call.signal, onprogress: () => call.abort("enough") },
  );
  const error = await within(failure(forever), "the end of a call that was given up");
  return { error, next: await callTool({ name: "echo", arguments: { word: "zebra" } }) };
}

async function readPages({ listPage }) {
  const pages = [];
  let cursor;
  do {
    const page = await listPage(cursor);
    pages.push(page.resources);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

// Files of the folder appear, get another title or name, and disappear; each time the client is
// told, it lists what there is, until the change shows.
async function changeThings(talk, folder, word) {
  const [one, two] = [`${word}-1.md`, `${word}-2.md`];
  const at = (name) => join(folder, name);
  const steps = [
    [() => writeFileSync(at(one), `# One ${word}\n\nA ${word}.\n`), { [one]: `One ${word}` }],
    [() => writeFileSync(at(one), `# First ${word}\n\nIt.\n`), { [one]: `First ${word}` }],
    [() => renameSync(at(one), at(two)), { [two]: `First ${word}` }],
    [() => unlinkSync(at(two)), {}],
  ];
  const listings = [];
  for (const [change, expected] of steps) {
    let told = talk.news.next();
    change();
    let listing;
    do {
      await within(told, `news of ${JSON.stringify(expected)}, last seen ${listing}`);
      told = talk.news.next();
      listing = JSON.stringify(titlesOf(await readPages(talk), word));
    } while (listing !== JSON.stringify(expected));
    listings.push(JSON.parse(listing));
  }
  return listings;
}

function titlesOf(pages, word) {
  const all = pages.flat().filter(({ uri }) => uri.startsWith(`docs://${word}`));
  return Object.fromEntries(all.map(({ name, title }) => [name, title]));
}

async function failure(promise) {
  try {
    return { answered: await promise };
  } catch (error) {
    return { code: error.code, message: error.message, data: error.data };
  }
}

// Whoever asks for the next news before a change will hear of it.
export class News {
  #waiting = [];
  tell = () => this.#waiting.splice(0).forEach((resolve) => resolve());
  next = () => new Promise((resolve) => this.#waiting.push(resolve));
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// The arguments of a client's program: one JSON object.
export const wanted = JSON.parse(process.argv[2]);

export async function tell(talk) {
  try {
    const seen = wanted.giveUp ? await giveUp(talk) : await converse(talk, wanted);
    process.stdout.write(JSON.stringify({ ...talk.saw, ...seen }));
  } finally {
    await talk.client.close();
  }
}
