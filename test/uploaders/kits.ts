import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT, readPage } from "../documents/pages.ts";
import { runIn } from "../published/project.ts";

const KITS = fileURLToPath(new URL("kits", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/outrigger-kits");
const INSTALL = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** The page whose blocks are run. */
export const PAGE = await readPage("docs/uploaders.md");

/** Installs the kits of the lock file, unless an earlier run did. @returns their `node_modules` */
export async function installKits(): Promise<string> {
  const files = ["package.json", "package-lock.json"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(await readFile(join(KITS, file)));
  const digest = hash.digest("hex").slice(0, 16);
  const installed = join(CACHE, digest);
  if (!existsSync(installed)) {
    await mkdir(CACHE, { recursive: true });
    // Of other lock files, and of runs that were killed.
    for (const entry of await readdir(CACHE)) await rm(join(CACHE, entry), { recursive: true, force: true });
    const directory = await mkdtemp(join(CACHE, "installing-"));
    for (const file of files) await copyFile(join(KITS, file), join(directory, file));
    await runIn(directory, "npm", INSTALL);
    await rename(directory, installed);
  }
  return join(installed, "node_modules");
}

/** Renders the component of the page, as an app does. */
const APP = `import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { Pictures } from "./pictures.jsx";
createRoot(document.querySelector("#uploader")).render(createElement(Pictures));
`;

/** Writes each block of the page that has a file name into `directory`, and bundles them into `built` there. */
export async function bundleBlocks(directory: string, modules: string): Promise<void> {
  const blocks = PAGE.blocks.filter(({ file }) => file !== "");
  const files = [...blocks, { file: "react-dropzone.js", code: APP }];
  for (const { file, code } of files) {
    const own = code.replaceAll('"https://example.com/img"', 'location.origin + "/img"');
    await writeFile(join(directory, file), own);
  }
  await build({
    entryPoints: files.map(({ file }) => join(directory, file)),
    outdir: join(directory, "built"),
    nodePaths: [modules, join(ROOT, "node_modules")],
    ...{ bundle: true, format: "esm", jsx: "automatic", logLevel: "error", minify: true },
    loader: { ".svg": "dataurl" },
  });
}
