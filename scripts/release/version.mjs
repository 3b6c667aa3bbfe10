// Turns the change files of .changeset/ into the next version: manifests, changelogs, lock file, version constants.
// Also writes the security contact into SECURITY.md. `--dry-run` prints the plan and changes nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import applyReleasePlan from "@changesets/apply-release-plan";
import { read as readConfig } from "@changesets/config";
import getReleasePlan from "@changesets/get-release-plan";
import { getPackages } from "@manypkg/get-packages";
import { readJson, writeJson } from "./packages.mjs";
import { readProject } from "./project.mjs";
import { writeSecurityContact } from "./security-contact.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isDryRun = process.argv.includes("--dry-run");

const KINDS = ["none", "patch", "minor", "major"];
/** Sources that repeat the version of their package. */
const VERSION_SOURCES = ["packages/client/src/version.ts", "packages/core/src/openapi/version.ts"];

const plan = limited(await getReleasePlan(root));
if (plan.releases.length === 0) console.log("No change files in .changeset/: the version stays.");
for (const { name, oldVersion, newVersion, type } of plan.releases) {
  if (type !== "none") console.log(`${name} ${oldVersion} → ${newVersion}`);
}
if (!isDryRun) {
  if (plan.releases.length > 0) await apply();
  writeSecurityContact(root, readProject(root));
}

/**
 * Changesets bumps a package to the next major version if the new core is outside its peer range. Before 1.0 each minor
 * version is outside: `^0.1.0` excludes 0.2.0. All packages are released together, so no release exceeds the kind that
 * the change files name.
 */
function limited(plan) {
  const named = plan.changesets.flatMap(({ releases }) => releases.map(({ type }) => KINDS.indexOf(type)));
  const kind = KINDS[Math.max(0, ...named)];
  if (kind === "none") return { ...plan, releases: [] };
  const releases = plan.releases.map((release) =>
    // Private packages keep their version; only their dependencies are updated.
    release.type === "none"
      ? release
      : { ...release, type: kind, newVersion: increased(release.oldVersion, kind) },
  );
  return { ...plan, releases };
}

function increased(version, kind) {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (kind === "major") return `${major + 1}.0.0`;
  return kind === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

async function apply() {
  const packages = await getPackages(root);
  const config = await readConfig(root, packages);
  await applyReleasePlan(plan, packages, config, undefined, root);
  const version = plan.releases.find(({ type }) => type !== "none").newVersion;
  const manifest = readJson(join(root, "package.json"));
  writeJson(join(root, "package.json"), { ...manifest, version });
  writeVersionSources(version);
  updateLock(version);
}

function writeVersionSources(version) {
  for (const file of VERSION_SOURCES) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/(export const VERSION = )"[^"]*"/, `$1"${version}"`));
  }
}

/** As `npm install` does, without the network. */
function updateLock(version) {
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
  const indent = /^{\n(\s+)/.exec(readFileSync(path, "utf8"))?.[1] ?? "  ";
  writeFileSync(path, `${JSON.stringify(lock, null, indent)}\n`);
}
