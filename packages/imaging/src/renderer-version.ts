import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { defaultRendererOptions } from "./renderer-options.ts";
import type { PictureLimits } from "./wire.ts";

/** Our own part of the version: raised whenever `encode.ts` or `render.ts` give other pixels or bytes than before. */
const SETTINGS = "s1";
const MAX_LENGTH = 24;

/** Our settings, sharp's version, and a digest of those limits that shape renditions if they are not the defaults. */
export function rendererVersion(limits: PictureLimits): string {
  const digest =
    shape(limits) === shape(defaultRendererOptions())
      ? ""
      : `-${createHash("sha256").update(shape(limits)).digest("hex").slice(0, 6)}`;
  const library = sharpVersion()
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "");
  return `${SETTINGS}-${library.slice(0, MAX_LENGTH - SETTINGS.length - 1 - digest.length)}${digest}`;
}

function shape(limits: PictureLimits): string {
  return [
    limits.maxSide,
    limits.maxOutputPixels,
    limits.maxGifOutputPixels,
    limits.maxAvifOutputPixels,
    limits.maxAnimationOutputPixels,
  ].join();
}

/** Read off the package, not asked of it: importing sharp would load its native code into the host. */
function sharpVersion(): string {
  // Its `exports` hide its package.json, above its entry (dist/index.cjs).
  const packageJson = new URL(
    "../package.json",
    pathToFileURL(createRequire(import.meta.url).resolve("sharp")),
  );
  const { version }: { version: string } = JSON.parse(readFileSync(packageJson, "utf8"));
  return version;
}
