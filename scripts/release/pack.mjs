// Packs the packages as `npm publish` would.
import { spawnSync } from "node:child_process";
import { publicPackages } from "./packages.mjs";

/**
 * Packs with the manifests as they are in the checkout, which it does not change.
 * @param folder that exists and gets one tarball for each package
 */
export function packAsTheyAre(root, folder) {
  return npmJson(root, [
    ...["pack", "--json", "--ignore-scripts", `--pack-destination=${folder}`],
    ...publicPackages(root).map(({ directory }) => `--workspace=${directory}`),
  ]);
}

/** What a command of npm prints as JSON. */
export function npmJson(root, args) {
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${error?.message ?? stderr.trim()}`);
  return JSON.parse(stdout);
}
