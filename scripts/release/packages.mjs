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
 * Writes the project's values into each manifest, and the repository into the relative links of each README, which lead
 * nowhere on a registry's page. Runs `action`, and restores the files, whatever the outcome.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function withProjectInPackages(root, project, action) {
  const files = publicPackages(root).flatMap(({ directory, manifest }) => {
    const path = join(root, directory, "package.json");
    const readme = join(root, directory, "README.md");
    const original = readFileSync(readme, "utf8");
    return [
      {
        path,
        original: readFileSync(path),
        full: jsonText({ ...manifest, ...manifestFields(project, directory) }),
      },
      { path: readme, original, full: withFullLinks(original, project, directory) },
    ];
  });
  try {
    for (const { path, full } of files) writeFileSync(path, full);
    return await action();
  } finally {
    for (const { path, original } of files) writeFileSync(path, original);
  }
}

/** Relative links of a page in `directory` as links into the repository, if that is set. */
function withFullLinks(text, { repository }, directory) {
  if (!repository) return text;
  return text.replaceAll(/\]\((?![a-z]+:|#|\/)([^)\s]+)\)/g, (_, link) => {
    const { pathname, hash } = new URL(link, `file:///${directory}/`);
    return `](${repository}/blob/HEAD${pathname}${hash})`;
  });
}

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

export function writeJson(path, value) {
  writeFileSync(path, jsonText(value));
}

function jsonText(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
