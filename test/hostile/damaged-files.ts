import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { OriginalType } from "@outrigger/core/images";
import {
  animatedGif,
  emptyPdf,
  flatPsd,
  halfTransparentPng,
  jpegPhoto,
  svgDrawing,
} from "../support/pictures.ts";
import type { Random } from "./random.ts";

export interface NamedFile {
  title: string;
  type: OriginalType;
  bytes: Buffer;
}

/** An intact file of each type. */
export async function soundFiles(): Promise<NamedFile[]> {
  return [
    { title: "JPEG", type: "image/jpeg", bytes: await jpegPhoto(90, 60) },
    { title: "PNG", type: "image/png", bytes: await halfTransparentPng(64, 32) },
    { title: "GIF", type: "image/gif", bytes: await animatedGif(3, 40, 30) },
    { title: "SVG", type: "image/svg+xml", bytes: svgDrawing },
    { title: "PSD", type: "image/x-photoshop", bytes: flatPsd() },
    { title: "PDF", type: "application/pdf", bytes: emptyPdf() },
  ];
}

/** `bytes` truncated: after each of the first bytes, at places throughout, and just before the end. */
export function truncations(bytes: Buffer, random: Random): { title: string; bytes: Buffer }[] {
  const { length } = bytes;
  const lengths = new Set([1, 2, 3, 4, 8, 12, 26, length - 1, length - 2, length - 9]);
  while (lengths.size < 30) lengths.add(1 + random.below(length - 1));
  return [...lengths].map((to) => ({
    title: `cut to ${to} of ${length} bytes`,
    bytes: bytes.subarray(0, to),
  }));
}

/** `bytes` with one to ten bytes changed, mostly near headers. */
export function corruptions(
  bytes: Buffer,
  random: Random,
  count: number,
): { title: string; bytes: Buffer }[] {
  return Array.from({ length: count }, () => {
    const changed = Buffer.from(bytes);
    const places = Array.from({ length: 1 + random.below(10) }, () => {
      const at = random.below(random.below(2) === 0 ? changed.length : Math.min(200, changed.length));
      changed[at] = random.pick([0, 0xff, 0x7f, 0x80, random.below(256)]);
      return at;
    });
    return { title: `changed at ${places.join(", ")}`, bytes: changed };
  });
}

const TYPE_OF_SUFFIX = new Map<string, OriginalType>([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["svg", "image/svg+xml"],
  ["psd", "image/x-photoshop"],
  ["pdf", "application/pdf"],
]);
/** Files of unsupported types, sent as if they were supported. */
const OTHER_SUFFIXES = new Set([
  "webp",
  "avif",
  "ico",
  "bmp",
  "tif",
  "tiff",
  "woff2",
  "ttf",
  "wasm",
  "gz",
  "zip",
  "node",
  "html",
]);
const MAX_BYTES = 2_000_000;
const MAX_PER_SUFFIX = 12;

/** Pictures and other files that the installed packages ship; `type` is what their name claims. */
export function installedFiles(root: string): {
  files: NamedFile[];
  others: { title: string; bytes: Buffer }[];
} {
  const files: NamedFile[] = [];
  const others: { title: string; bytes: Buffer }[] = [];
  const counts = new Map<string, number>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const suffix = /\.(\w+)$/.exec(entry.name)?.[1]?.toLowerCase() ?? "";
    const type = TYPE_OF_SUFFIX.get(suffix);
    if (!entry.isFile() || (type === undefined && !OTHER_SUFFIXES.has(suffix))) continue;
    const path = join(entry.parentPath, entry.name);
    const count = (counts.get(suffix) ?? 0) + 1;
    if (count > MAX_PER_SUFFIX || statSync(path).size > MAX_BYTES) continue;
    counts.set(suffix, count);
    const file = { title: relative(root, path), bytes: readFileSync(path) };
    if (type === undefined) others.push(file);
    else files.push({ ...file, type });
  }
  return { files, others };
}
