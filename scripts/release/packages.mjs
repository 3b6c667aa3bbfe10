// The packages that are published, and their manifests while they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifestFields } from "./project.mjs";

/** Folders from the root of the checkout, with the manifest of each. Private packages are left out. */
export function publicPackages(root) {
  return readdirSync(join(root, "packages"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `packages/${name}`)
    .sort()
    .map((directory) => ({ directory, manifest: readJson(join(root, directory, "package.json")) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/**
 * Writes the project's values into each manifest, runs `action`, and restores the manifests, whatever the outcome.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function withProjectInManifests(root, project, action) {
  const files = publicPackages(root).map(({ directory, manifest }) => {
    const path = join(root, directory, "package.json");
    return {
      path,
      original: readFileSync(path),
      full: { ...manifest, ...manifestFields(project, directory) },
    };
  });
  try {
    for (const { path, full } of files) writeJson(path, full);
    return await action();
  } finally {
    for (const { path, original } of files) writeFileSync(path, original);
  }
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

export function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
