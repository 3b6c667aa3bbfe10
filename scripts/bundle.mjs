// Bundles the entries of the package in the working directory into `dist`, with source maps to `src`. Node loads a few files
// faster than hundreds. Code that entries share is in chunks of its own; dependencies stay outside. Types come from `tsc`.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const OUT = "dist";
const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const entries = Object.values(exports)
  .map((entry) => entry.default?.replace(`./${OUT}/`, "src/").replace(/\.js$/, ".ts"))
  .filter((entry) => entry !== undefined);

// Chunks are named by their content: files of an earlier build would stay.
for (const file of readdirSync(OUT, { recursive: true })) {
  if (/\.js(?:\.map)?$/.test(file)) rmSync(join(OUT, file));
}
await build({
  entryPoints: entries,
  outdir: OUT,
  bundle: true,
  splitting: true,
  packages: "external",
  format: "esm",
  platform: "node",
  target: "node20.19",
  charset: "utf8",
  logLevel: "warning",
  sourcemap: true,
  sourcesContent: false,
});
