// The packages that are published.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folders from the root of the checkout, with the manifest of each. Private packages are left out. */
export function publicPackages(root) {
  return readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `packages/${name}`)
    .sort()
    .map((directory) => ({ directory, manifest: readJson(join(root, directory, "package.json")) }))
    .filter(({ manifest }) => manifest.private !== true);
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

export function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
