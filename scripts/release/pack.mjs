// Packs the packages as `npm publish` would.
import { spawnSync } from "node:child_process";
import { publicPackages, withProjectInManifests } from "./packages.mjs";

/**
 * @typedef {{ name: string, version: string, filename: string, size: number, integrity: string, files: { path: string }[] }} Packed
 */

/**
 * Packs with the project's values in each manifest.
 *
 * @param folder that exists and gets one tarball for each package
 * @returns {Promise<Packed[]>}
 */
export function packPackages(root, project, folder) {
  return withProjectInManifests(root, project, async () => packAsTheyAre(root, folder));
}

/**
 * Packs with the manifests as they are in the checkout, which it does not change.
 *
 * @returns {Packed[]}
 */
export function packAsTheyAre(root, folder) {
  const workspaces = publicPackages(root).map(({ directory }) => `--workspace=${directory}`);
  const args = ["pack", "--json", "--ignore-scripts", `--pack-destination=${folder}`, ...workspaces];
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm pack failed: ${error?.message ?? stderr.trim()}`);
  return JSON.parse(stdout);
}
