import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { readPage } from "../../packages/page-index/dist/extract/read-page.js";
import { DOMAIN, startPageSite } from "../src/page-site.mjs";
import { compare, formatMegabytes, formatMicros } from "../src/report.mjs";
import { loadTypeScript } from "../src/typescript.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @typedef {{ url: URL, domain: string, html: string }} Page */

const SITES = { full: 300, quick: 60, smoke: 5 };
/** Pages after which the memory is compared. */
const MEMORY = { full: [10_000, 100_000], quick: [1000, 4000], smoke: [5, 20] };
const CHILD = fileURLToPath(new URL("../src/crawl-child.mjs", import.meta.url));
const PACKAGE = new URL("../../packages/page-index/package.json", import.meta.url);

/** Reading contacts from pages, against parsing the same pages; and the memory of a process that indexes many. */
export async function pages(/** @type {Bench} */ bench) {
  const { settings, checks } = bench;
  /** @type {Page[]} */
  const all = [];
  let known = 0;
  const sites = () => import("../../test/page-sites/sites.ts");
  const { generatedSites } = await loadTypeScript(sites, "/test/page-sites/sites.ts");
  for (const { domain, pages: site, truths } of generatedSites(1, SITES[settings.mode])) {
    known += truths.filter(({ visibility }) => visibility === "readable").length;
    for (const { url, html } of site) all.push({ url: new URL(url), domain, html });
  }
  // The version of the page index: another may be installed for the whole repository.
  const { parse } = await import(pathToFileURL(createRequire(PACKAGE).resolve("parse5")).href);
  let found = 0;
  const read = (/** @type {Page} */ { url, domain, html }) => {
    found += readPage(html, { url, domain }).contacts.length;
  };
  for (const page of all) read(page);
  checks.that(`${found} contacts of ${known} readable ones`, found >= known);
  /** @type {number[]} */
  const ours = [];
  /** @type {number[]} */
  const theirs = [];
  for (let round = -1; round < settings.rounds; round++) {
    const turns = [
      () => ours.push(microsPerPage(all, read)),
      () => theirs.push(microsPerPage(all, ({ html }) => parse(html))),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) turn();
  }
  // The first one was the warm-up.
  const cpu = compare({
    what: "Contacts of a page, CPU",
    ours: ours.slice(1),
    peer: "parse5 alone",
    theirs: theirs.slice(1),
    format: formatMicros,
    aim: { atMost: 3 },
  });
  const [few = 0, many = 0] = MEMORY[settings.mode];
  const [fewBytes = 0, manyBytes = 0] = await crawl(bench, [few, many]);
  checks.that(`memory of ${fewBytes} and ${manyBytes} bytes`, fewBytes > 0 && manyBytes >= fewBytes);
  const memory = compare({
    what: `Peak memory, ${many.toLocaleString("en")} pages of a domain indexed`,
    ours: [manyBytes],
    peer: `of ${few.toLocaleString("en")} pages`,
    theirs: [fewBytes],
    format: formatMegabytes,
    aim: { atMost: 1.25 },
  });
  return [cpu, memory];
}

/**
 * @param {Bench} bench
 * @param {readonly number[]} marks
 * @returns {Promise<number[]>} Bytes after each number of pages.
 */
async function crawl(bench, marks) {
  const site = await startPageSite();
  try {
    const file = join(await bench.makeDirectory("index"), "lookup.db");
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[CHILD, String(site.port), DOMAIN, file],
      ...marks.map(String),
    ]);
    return stdout.trim().split("\n").map(Number);
  } finally {
    site.close();
  }
}

/**
 * @param {readonly Page[]} all
 * @param {(page: Page) => unknown} read
 */
function microsPerPage(all, read) {
  const before = process.cpuUsage();
  for (const page of all) read(page);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / all.length;
}
