import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { arch, platform, versions } from "node:process";
import { fileURLToPath } from "node:url";
import type { ImageFormat, OriginalType } from "@outrigger/core";
import type { PictureLimits } from "./shared/wire.ts";

/** Libraries whose versions may draw or encode differently. */
const LIBRARIES = ["sharp", "@embedpdf/pdfium", "ag-psd", "pdfkit", "svg-to-pdfkit"];

let code: string | undefined;

/**
 * `Renderer.build`: a digest of everything that decides the bytes of renditions. That is our own code, the versions of the
 * libraries, and the limits that shape renditions. Takes 15 ms the first time in a process.
 */
export function buildOf(limits: PictureLimits): string {
  code ??= [ownCode(), ...LIBRARIES.map(versionOf), ...nativeVersions(), `zlib ${versions.zlib}`].join();
  const digest = createHash("sha256").update(code).update(shape(limits)).digest("hex");
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

/** A digest of the files beside and below this one that Node runs, those of the worker included. */
function ownCode(): string {
  const directory = dirname(fileURLToPath(import.meta.url));
  const hash = createHash("sha256");
  for (const file of codeIn(directory).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(join(directory, file)));
  }
  return hash.digest("hex");
}

/** Paths below `directory`, with slashes. `readdir` itself takes five times as long to go into folders. */
function codeIn(directory: string, above = ""): string[] {
  return readdirSync(join(directory, above), { withFileTypes: true }).flatMap((entry) => {
    const path = `${above}${entry.name}`;
    if (entry.isDirectory()) return codeIn(directory, `${path}/`);
    return /\.[jt]s$/.test(path) && !/\.(?:d|test)\.ts$/.test(path) ? [path] : [];
  });
}

/**
 * The binaries that sharp loads, with the platform in their names. libvips and librsvg are among them, and draw differently on
 * another processor. npm installs them beside sharp or within it.
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

/** The folder of a package, found by its entry: its `exports` may hide its package.json. */
function rootOf(library: string): string {
  const entry = createRequire(import.meta.url).resolve(library);
  const path = join("node_modules", library);
  return entry.slice(0, entry.lastIndexOf(path) + path.length);
}

/**
 * Add an entry, or raise its number by one, for a type, a format or a single conversion whose renditions now look different.
 * Stored renditions with a lower look are then rendered again after the reply. Leave out invisible changes, such as another
 * encoder with the same settings: `build` distinguishes those bytes.
 */
const RAISED: { type?: OriginalType; format?: ImageFormat; by: number }[] = [];

/** `Renderer.look`. */
export function look(type: OriginalType, format: ImageFormat): number {
  return RAISED.filter((each) => (each.type ?? type) === type && (each.format ?? format) === format).reduce(
    (sum, { by }) => sum + by,
    1,
  );
}
