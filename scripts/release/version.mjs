// Writes the next version by changesets' own command, and what that leaves out: lock file, version constants.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publicPackages, readJson, writeJson } from "./packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Sources that repeat the version of their package. */
const VERSION_SOURCES = ["packages/client/src/version.ts", "packages/core/src/openapi/version.ts"];

const versionOf = () => publicPackages(root)[0].manifest.version;
const before = versionOf();

// Changesets raises a package to the next major version if the new core is outside its peer range, as 0.2.0 is of `^0.1.0`. All
// packages are released together, so no release exceeds the kind that the change files name.
setPeerRanges("*");
try {
  const command = join(root, "node_modules/@changesets/cli/bin.js");
  execFileSync(process.execPath, [command, "version"], { cwd: root, stdio: "inherit" });
} finally {
  setPeerRanges(`^${versionOf()}`);
}
const version = versionOf();
if (version !== before) {
  writeJson(join(root, "package.json"), { ...readJson(join(root, "package.json")), version });
  for (const file of VERSION_SOURCES) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/(export const VERSION = )"[^"]*"/, `$1"${version}"`));
  }
  updateLock();
}

/** The ranges in which the packages accept each other as peers. */
function setPeerRanges(range) {
  for (const { directory, manifest } of publicPackages(root)) {
    const peers = Object.entries(manifest.peerDependencies ?? {}).map(([name, given]) => [
      name,
      /^(?:@outrigger\/|outrigger$)/.test(name) ? range : given,
    ]);
    if (peers.length === 0) continue;
    writeJson(join(root, directory, "package.json"), {
      ...manifest,
      peerDependencies: Object.fromEntries(peers),
    });
  }
}

/** As `npm install` does, without the network. */
function updateLock() {
  const path = join(root, "package-lock.json");
  const lock = readJson(path);
  lock.version = version;
  for (const [folder, entry] of Object.entries(lock.packages)) {
    if (folder.includes("node_modules/") || entry.link) continue;
    const manifest = readJson(join(root, folder, "package.json"));
    entry.version = manifest.version;
    for (const field of ["dependencies", "devDependencies", "peerDependencies"]) {
      for (const name of Object.keys(entry[field] ?? {})) entry[field][name] = manifest[field][name];
    }
  }
  writeJson(path, lock);
}
