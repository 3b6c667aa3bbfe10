import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readPage } from "../../packages/page-index/dist/extract/read-page.js";
import { compare } from "../src/report.mjs";
import { loadTypeScript } from "../src/typescript.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @typedef {{ url: URL, domain: string, html: string }} Page */

const SITES = { full: 300, quick: 60, smoke: 5 };
const PACKAGE = new URL("../../packages/page-index/package.json", import.meta.url);

/** Reading contacts from pages, against parsing the same pages. */
export async function measureRow(/** @type {Bench} */ { settings, checks }) {
  /** @type {Page[]} */
  const all = [];
  let known = 0;
  const sites = () => import("../../test/page-sites/sites.ts");
  const { generatedSites } = await loadTypeScript(sites, "/test/page-sites/sites.ts");
  for (const { domain, pages: site, truths } of generatedSites(1, SITES[settings.mode])) {
    known += truths.length;
    for (const { url, html } of site) all.push({ url: new URL(url), domain, html });
  }
  // The version of the page index: another may be installed for the whole repository.
  const { parse } = await import(pathToFileURL(createRequire(PACKAGE).resolve("parse5")).href);
  let found = 0;
  const read = (/** @type {Page} */ { url, domain, html }) => {
    found += readPage(html, { url, domain }).contacts.length;
  };
  // The first reading is the warm-up.
  microsPerPage(all, read);
  microsPerPage(all, ({ html }) => parse(html));
  checks.that(`${found} contacts of ${known} readable ones`, found >= known);
  const rounds = Array.from({ length: settings.rounds }, () => ({
    ours: microsPerPage(all, read),
    theirs: microsPerPage(all, ({ html }) => parse(html)),
  }));
  return [
    compare({
      what: "Contacts of a page, CPU",
      ours: rounds.map(({ ours }) => ours),
      peer: "parse5 alone",
      theirs: rounds.map(({ theirs }) => theirs),
      atMost: 3,
    }),
  ];
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
