import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { arch, platform, versions } from "node:process";
import { fileURLToPath } from "node:url";
import { ownRoot, readManifest, rootOf } from "./package-roots.ts";

/** Libraries whose version decides how pictures are drawn or encoded. */
const LIBRARIES = ["sharp", "@embedpdf/pdfium", "pdfkit", "svg-to-pdfkit"];

let code: string | undefined;

/**
 * `Renderer.build`: a digest of everything that decides the bytes of renditions: this package's code, the library
 * versions, and the limit that shapes renditions. The first call in a process takes 15 ms.
 */
export function buildOf(maxOutputPixels: number): string {
  code ??= codeVersion();
  const digest = createHash("sha256").update(code).update(String(maxOutputPixels)).digest("hex");
  return `r1.${digest.slice(0, 16)}`;
}

function codeVersion(): string {
  const own = ownRoot();
  return [ownCode(), ...libraryVersions(own), ...nativeVersions(own), `zlib ${versions.zlib}`].join();
}

/** A digest of the code files in this folder and below, the worker's included. */
function ownCode(): string {
  const directory = dirname(fileURLToPath(import.meta.url));
  const hash = createHash("sha256");
  for (const file of codeIn(directory).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(join(directory, file)));
  }
  return hash.digest("hex");
}

/** Paths below `directory`, with slashes. A recursive `readdir` takes five times as long. */
function codeIn(directory: string, above = ""): string[] {
  return readdirSync(join(directory, above), { withFileTypes: true }).flatMap((entry) => {
    const path = `${above}${entry.name}`;
    if (entry.isDirectory()) return codeIn(directory, `${path}/`);
    return /\.[jt]s$/.test(path) && !/\.(?:d|test)\.ts$/.test(path) ? [path] : [];
  });
}

/**
 * Versions of the binary packages that sharp loads; their names hold the platform. They contain libvips and librsvg,
 * which draw differently on another processor. npm installs them beside sharp or inside it.
 */
function nativeVersions(own: string): string[] {
  const sharp = rootOf("sharp", own);
  if (sharp === null) return [];
  return [join(sharp, "node_modules"), dirname(sharp)]
    .map((modules) => join(modules, "@img"))
    .filter(existsSync)
    .flatMap((scope) => readdirSync(scope).map((name) => join(scope, name)))
    .filter((root) => root.includes(`-${platform}`) && root.endsWith(`-${arch}`))
    .map((root) => `${root.slice(root.lastIndexOf("sharp-"))} ${readManifest(root).version}`)
    .toSorted();
}

/**
 * Versions of the libraries, from their package.json: importing them would load their code into the host. Where a package
 * manager keeps no such file, the range that this package declares.
 */
function libraryVersions(own: string): string[] {
  const { dependencies = {} } = readManifest(own);
  return LIBRARIES.map((name) => {
    const root = rootOf(name, own);
    return root === null ? (dependencies[name] ?? "") : readManifest(root).version;
  });
}
