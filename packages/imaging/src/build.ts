import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { arch, platform, versions } from "node:process";
import { fileURLToPath } from "node:url";
import type { ImageFormat, OriginalType } from "@outrigger/core";
import type { PictureLimits } from "./shared/wire.ts";

/** Libraries whose version decides how pictures are drawn or encoded. */
const LIBRARIES = ["sharp", "@embedpdf/pdfium", "ag-psd", "pdfkit", "svg-to-pdfkit"];

let code: string | undefined;

/**
 * `Renderer.build`: a digest of everything that decides the bytes of renditions: this package's code, the library
 * versions, the language, and the limits that shape renditions. The first call in a process takes 15 ms.
 */
export function buildOf(limits: PictureLimits, language: string): string {
  code ??= [ownCode(), ...LIBRARIES.map(versionOf), ...nativeVersions(), `zlib ${versions.zlib}`].join();
  const digest = createHash("sha256").update(code).update(shape(limits)).update(language).digest("hex");
  return `r1.${digest.slice(0, 16)}`;
}

function shape(limits: PictureLimits): string {
  return [
    limits.maxSide,
    limits.maxOutputPixels,
    limits.maxGifOutputPixels,
    limits.maxWebpOutputPixels,
    limits.maxAvifOutputPixels,
    limits.maxAnimationOutputPixels,
  ].join();
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
function nativeVersions(): string[] {
  const sharp = rootOf("sharp");
  return [join(sharp, "node_modules"), dirname(sharp)]
    .map((modules) => join(modules, "@img"))
    .filter(existsSync)
    .flatMap((scope) => readdirSync(scope).map((name) => join(scope, name)))
    .filter((root) => root.includes(`-${platform}`) && root.endsWith(`-${arch}`))
    .map((root) => `${root.slice(root.lastIndexOf("sharp-"))} ${readVersion(root)}`)
    .toSorted();
}

/** Read from package.json: importing the library would load its code into the host. */
function versionOf(library: string): string {
  return readVersion(rootOf(library));
}

function readVersion(root: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return version;
}

/** The folder of a package, found from its entry point: `exports` may hide package.json. */
function rootOf(library: string): string {
  const entry = createRequire(import.meta.url).resolve(library);
  const path = join("node_modules", library);
  return entry.slice(0, entry.lastIndexOf(path) + path.length);
}

/**
 * Conversions whose renditions changed visibly. When renditions of a type, a format or one conversion look different,
 * add an entry or raise its number by one. Stored renditions with a lower look are then rendered again after the reply.
 * Do not list invisible changes, such as a new encoder version: `build` covers those.
 */
const RAISED: { type?: OriginalType; format?: ImageFormat; by: number }[] = [
  // Backgrounds of roots, and GIFs in embedded SVGs, are drawn.
  { type: "image/svg+xml", by: 1 },
  // Text without an embedded font is drawn with fonts of the machine.
  { type: "application/pdf", by: 1 },
  // Transparency declared by channel IDs; fills, and layers of all modes, of files without a merged picture.
  { type: "image/x-photoshop", by: 1 },
  // The canvas of a GIF is transparent where no frame draws.
  { type: "image/gif", by: 1 },
];

/** `Renderer.look`. */
export function look(type: OriginalType, format: ImageFormat): number {
  return RAISED.filter((each) => (each.type ?? type) === type && (each.format ?? format) === format).reduce(
    (sum, { by }) => sum + by,
    1,
  );
}
