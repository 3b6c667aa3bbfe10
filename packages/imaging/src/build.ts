import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { arch, platform, versions } from "node:process";
import { fileURLToPath } from "node:url";
import type { ImageFormat, OriginalType } from "@outrigger/core/images";
import { ownRoot, readManifest, rootOf } from "./package-roots.ts";
import type { PictureLimits } from "./shared/wire.ts";

/** Libraries whose version decides how pictures are drawn or encoded. */
const LIBRARIES = ["sharp", "@embedpdf/pdfium", "ag-psd", "pdfkit", "svg-to-pdfkit"];

let code: string | undefined;

/**
 * `Renderer.build`: a digest of everything that decides the bytes of renditions: this package's code, the library
 * versions, the language, and the limits that shape renditions. The first call in a process takes 15 ms.
 */
export function buildOf({ maxSide, maxOutputPixels }: PictureLimits, language: string): string {
  code ??= codeVersion();
  const digest = createHash("sha256")
    .update(code)
    .update(`${maxSide},${maxOutputPixels}`)
    .update(language)
    .digest("hex");
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

/**
 * Conversions whose renditions changed visibly. When renditions of a type, a format or one conversion look different,
 * add an entry or raise its number by one. Stored renditions with a lower look are then rendered again after the reply.
 * Do not list invisible changes, such as a new encoder version, unless they protect people: `build` covers those.
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
  // Resized frames of an animation do not mix at their edges.
  { type: "image/gif", format: "gif", by: 1 },
  { type: "image/gif", format: "webp", by: 1 },
  // Annotations of layers that are off are not drawn.
  { type: "application/pdf", by: 1 },
  // Copied pictures have no metadata; a PDF of a PDF hides what the document hides.
  { format: "svg", by: 1 },
  { format: "pdf", by: 1 },
  // HDR gain maps are kept.
  { type: "image/jpeg", format: "jpg", by: 1 },
];

/** `Renderer.look`. */
export function look(type: OriginalType, format: ImageFormat): number {
  return RAISED.filter((each) => (each.type ?? type) === type && (each.format ?? format) === format).reduce(
    (sum, { by }) => sum + by,
    1,
  );
}
