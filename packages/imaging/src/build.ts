import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { PictureLimits } from "./wire.ts";

/** Our own part of the build: raised whenever the same spec gives other bytes than before. */
const SETTINGS = "s2";

/** The libraries whose other versions may draw or encode otherwise. */
const LIBRARIES = ["sharp", "@embedpdf/pdfium", "ag-psd", "pdfkit", "svg-to-pdfkit"];

/** Our settings, and a digest of the libraries' versions and of those limits that shape renditions. */
export function buildOf(limits: PictureLimits): string {
  const facts = [...LIBRARIES.map(versionOf), shape(limits)].join();
  return `${SETTINGS}.${createHash("sha256").update(facts).digest("hex").slice(0, 12)}`;
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

/** Read off the package, not asked of it: importing the library would load its code into the host. */
function versionOf(library: string): string {
  const entry = createRequire(import.meta.url).resolve(library);
  // Their `exports` may hide their package.json, which lies in the package's root, above the entry.
  const root = entry.slice(0, entry.lastIndexOf(join("node_modules", library)));
  const path = join(root, "node_modules", library, "package.json");
  const { version }: { version: string } = JSON.parse(readFileSync(path, "utf8"));
  return version;
}
