import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { Asset } from "@outrigger/core/images";
import { packageFile } from "@outrigger/core/stores";

/** A page that has its own script and style sheets. */
export type Entry = "upload" | "viewer" | "edit";

/** Names of the files that a page loads directly. */
export interface EntryFiles {
  script: string;
  /** Modules that the script imports. */
  imports: readonly string[];
  styles: readonly string[];
}

/** The part of Vite's manifest that is used. */
type Manifest = Record<
  string,
  { name?: string; isEntry?: boolean; file: string; imports?: string[]; css?: string[] }
>;

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The files built from `browser/`, read into memory once. */
export interface Assets {
  get(name: string): Asset | undefined;
  filesOf(entry: Entry): EntryFiles;
  /** Name of the icon of all pages. */
  icon: string;
}

let loaded: Assets | null = null;

/** Throws an `Error` in a bundle without the files of this package, and when the package is not built. */
export function loadAssets(): Assets {
  loaded ??= readAssets();
  return loaded;
}

function readAssets(): Assets {
  const directory = packageFile("createPages", "@outrigger/web", () => [
    new URL("../dist/assets/", import.meta.url),
    new URL("../dist/assets/manifest.json", import.meta.url),
  ]);
  const manifest: Manifest = JSON.parse(readFileSync(new URL("manifest.json", directory), "utf8"));
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(directory)) {
    const type = TYPES[extname(name)];
    if (type !== undefined) assets.set(name, readAsset(new URL(name, directory), type));
  }
  const icon = [...assets.keys()].find((name) => /^icon-.+\.svg$/.test(name));
  if (icon === undefined) throw new Error("The built files have no icon: build @outrigger/web");
  return {
    icon,
    get: (name) => assets.get(name),
    filesOf(entry) {
      const found = Object.values(manifest).find(({ isEntry, name }) => isEntry === true && name === entry);
      if (found === undefined)
        throw new Error(`The built files have no entry ${entry}: build @outrigger/web`);
      const imports = found.imports?.flatMap((key) => manifest[key]?.file ?? []) ?? [];
      return { script: found.file, imports, styles: found.css ?? [] };
    },
  };
}

function readAsset(file: URL, type: string): Asset {
  const read = (suffix: string) => readFileSync(new URL(file.href + suffix));
  const has = (suffix: string) => existsSync(new URL(file.href + suffix));
  return {
    type,
    body: read(""),
    ...(has(".br") ? { brotli: read(".br") } : {}),
    ...(has(".gz") ? { gzip: read(".gz") } : {}),
  };
}
