import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The part of a package.json that is used. */
export interface Manifest {
  version: string;
  dependencies?: Readonly<Record<string, string>>;
}

/** The optional package that decodes HEIC, and the one that it needs. */
export const HEIC_PACKAGES = ["heic-decode", "libheif-js"];

/** The folder of this package. Throws when the nearest package.json above this file cannot be found. */
export function ownRoot(): string {
  return packageRoot(fileURLToPath(import.meta.url));
}

/** The nearest directory above `path` with a package.json. */
function packageRoot(path: string): string {
  const directory = dirname(path);
  if (directory === path) throw new Error("This package has no package.json");
  return readdirSync(directory).includes("package.json") ? realpathSync(directory) : packageRoot(directory);
}

/**
 * Real path of a package for modules in `from`; `null` if no `node_modules` on the way up has it. Files are looked up, not
 * resolved: `exports` may hide package.json, and tools that copy what a program imports leave out what it only resolves.
 */
export function rootOf(name: string, from: string): string | null {
  for (const modules of modulesAbove(from)) {
    try {
      return realpathSync(join(modules, name));
    } catch {
      // Not installed here; the next place is further up.
    }
  }
  return null;
}

/** Each `node_modules` on the way up from a directory, itself included, the nearest first. They may be missing. */
export function modulesAbove(directory: string): string[] {
  const parent = dirname(directory);
  return [join(directory, "node_modules"), ...(parent === directory ? [] : modulesAbove(parent))];
}

export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
