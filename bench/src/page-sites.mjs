import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

/** @typedef {import("../../test/page-sites/site.ts").Site} Site */

/**
 * The tests' generator of sites, which is TypeScript, as a module.
 * @param {string} directory
 * @returns {string} Its URL, for {@link generateSites}.
 */
export function bundlePageSites(directory) {
  const outfile = join(directory, "page-sites.mjs");
  buildSync({
    entryPoints: [fileURLToPath(new URL("../../test/page-sites/sites.ts", import.meta.url))],
    outfile,
    ...{ bundle: true, format: "esm", platform: "node", logLevel: "error" },
  });
  return pathToFileURL(outfile).href;
}

/**
 * @param {string} bundle
 * @param {number} seed
 * @param {number} count
 * @returns {Promise<Generator<Site>>}
 */
export async function generateSites(bundle, seed, count) {
  const { generatedSites } = await import(bundle);
  return generatedSites(seed, count);
}
