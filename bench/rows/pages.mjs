import { brotliCompressSync } from "node:zlib";
import { get, upload } from "../src/client.mjs";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const BROWSER = { accept: "text/html", "accept-encoding": "gzip, br" };

/** The bytes that a first visit to a page loads, compressed, without the picture; against their budget. */
export async function pages(/** @type {Bench} */ bench) {
  const server = await bench.start("outrigger-express");
  const id = await upload(server, await bench.corpus.small());
  return [
    await weighed(bench, server, "Viewer, total without the image", `/img/${id}/view`, 10_000),
    await weighed(bench, server, "Upload page, total", "/img/", 60_000),
    await weighed(bench, server, "API page, total", "/img/api", 1_000_000),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} what
 * @param {string} path
 * @param {number} budget In bytes.
 */
async function weighed({ checks }, server, what, path, budget) {
  const bytes = await weigh(server, path);
  checks.that(`${path} loads ${bytes} bytes`, bytes > 1000);
  return compare({
    what,
    ours: [bytes],
    peer: "budget",
    theirs: [budget],
    format: (value) => `${(value / 1000).toFixed(1)} kB`,
    aim: { below: 1 },
  });
}

/** @param {ServerProcess} server @param {string} path */
async function weigh(server, path) {
  const page = await get(server, path, BROWSER);
  if (page.status !== 200) throw new Error(`${path} was answered with ${page.status}`);
  // The host compresses pages, if it does at all.
  let bytes = brotliCompressSync(page.body).length;
  const html = page.body.toString();
  const waiting = [...html.matchAll(/(?:src|href)="[^"]*\/(assets\/[^"]+)"/g)].map(
    ([, name]) => `/img/${name}`,
  );
  const seen = new Set(waiting);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const { status, headers, body } = await get(server, file, BROWSER);
    if (status !== 200) throw new Error(`${file} was answered with ${status}`);
    bytes += body.length;
    const plain = headers["content-encoding"] === undefined ? body : (await get(server, file)).body;
    // A dynamic `import("./…")` is not part of the first visit.
    for (const [, name] of plain.toString().matchAll(/(?:from|import|url\()["']?\.\/([\w.-]+)["')]/g)) {
      const next = `/img/assets/${name}`;
      if (!seen.has(next)) waiting.push(next);
      seen.add(next);
    }
  }
  if (seen.size === 0) throw new Error(`${path} loads nothing`);
  return bytes;
}
