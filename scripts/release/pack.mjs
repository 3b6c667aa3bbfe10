// Packs the packages as `npm publish` would.
import { execFileSync } from "node:child_process";
import { publicPackages } from "./packages.mjs";

/** Packs with the manifests as they are in the checkout. @param folder that exists and gets one tarball for each package */
export function packAsTheyAre(root, folder) {
  const workspaces = publicPackages(root).map(({ directory }) => `--workspace=${directory}`);
  const args = ["pack", "--json", "--ignore-scripts", `--pack-destination=${folder}`, ...workspaces];
  return JSON.parse(execFileSync("npm", args, { cwd: root, maxBuffer: 2 ** 26 }));
}
