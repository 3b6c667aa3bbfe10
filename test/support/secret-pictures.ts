import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import type { Images } from "@outrigger/core";
import sharp from "sharp";
import { programs, run } from "./programs.ts";

export type RasterExtension = "jpg" | "png" | "gif" | "webp";

/** What the pictures tell about a person. No stored file or rendition may hold one of these texts. */
export const SECRETS = {
  camera: "Canary-Camera-3F",
  place: "Canary-Place-8B",
  author: "Canary-Author-5D",
  file: "Canary-File-1A",
};

const xmp = [
  `-XMP:Creator=${SECRETS.author}`,
  `-XMP:City=${SECRETS.place}`,
  `-XMP:RawFileName=${SECRETS.file}`,
];
const exif = [
  ...[`-EXIF:Make=${SECRETS.camera}`, `-EXIF:Artist=${SECRETS.author}`],
  ...["-GPSLatitude=47.3769", "-GPSLatitudeRef=N", "-GPSLongitude=8.5417", "-GPSLongitudeRef=E"],
];
const tagsOf: Record<RasterExtension, string[]> = {
  jpg: [...exif, ...xmp, `-IPTC:City=${SECRETS.place}`, `-Comment=${SECRETS.file}`],
  png: [...exif, ...xmp, `-PNG:Author=${SECRETS.author}`],
  gif: [...xmp, `-Comment=${SECRETS.file}`],
  webp: [...exif, ...xmp],
};

/** A picture of two colours, on its side where its type can say so, to which ExifTool has added each secret. */
export async function secretPicture(extension: RasterExtension): Promise<Buffer> {
  const left = {
    input: { create: { width: 30, height: 40, channels: 3, background: "#22c" } },
    left: 0,
    top: 0,
  } as const;
  const picture = sharp({ create: { width: 60, height: 40, channels: 3, background: "#e33" } }).composite([
    left,
  ]);
  const format = ({ jpg: "jpeg", png: "png", gif: "gif", webp: "webp" } as const)[extension];
  return withFile(await picture.toFormat(format).toBuffer(), extension, async (path) => {
    await exiftool("-overwrite_original", "-n", ...tagsOf[extension], path);
    if (extension !== "gif") await exiftool("-overwrite_original", "-n", "-Orientation=6", path);
    return readFile(path);
  });
}

/** The names of all tags, with their groups, that ExifTool finds in a file or in files inside it. */
export async function tagsIn(bytes: Buffer, extension: string): Promise<string[]> {
  return withFile(bytes, extension, async (path) => {
    const found = JSON.parse(await exiftool("-j", "-G1", "-a", "-u", "-ee3", path)) as Record<
      string,
      unknown
    >[];
    return found.flatMap((tags) => Object.keys(tags));
  });
}

/** The names of the tags in some files that tell a place, a camera, a person or a file. */
export async function personalTagsIn(files: readonly Buffer[]): Promise<string[]> {
  return withFile(Buffer.alloc(0), "txt", async (_, directory) => {
    const paths = files.map((_, index) => join(directory, `${index}`));
    await Promise.all(files.map((file, index) => writeFile(paths[index] ?? "", file)));
    const found = JSON.parse(await exiftool("-j", "-G1", "-a", "-u", "-ee3", ...paths)) as Record<
      string,
      unknown
    >[];
    return found.flatMap((tags) => Object.keys(tags)).filter(isPersonal);
  });
}

/** Whether a tag tells a place, a camera, a person or a file. */
export function isPersonal(tag: string): boolean {
  return (
    /^(?:GPS|XMP|IPTC|IFD|ExifIFD|PNG:Author|File:Comment|GIF:Comment)/.test(tag) &&
    !/:Orientation$/.test(tag)
  );
}

export async function withFile<Result>(
  bytes: Buffer,
  extension: string,
  use: (path: string, directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-carriers-"));
  try {
    const path = join(directory, `file.${extension}`);
    await writeFile(path, bytes);
    return await use(path, directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** What ExifTool prints. */
export async function exiftool(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(programs.exiftool, ["-q", ...args]);
  if (status !== 0) throw new Error(stderr);
  return String(stdout);
}

/** The secrets in a file, as they are, in UTF-16, and in whatever is compressed or encoded in it, down to the fifth. */
export function secretsIn(bytes: Buffer, depth = 0): string[] {
  const text = bytes.toString("latin1");
  const found = Object.values(SECRETS).filter((secret) => text.replaceAll("\0", "").includes(secret));
  if (depth === 5) return found;
  const inner = [...inflated(bytes), ...decoded(text)];
  return [...new Set([...found, ...inner.flatMap((content) => secretsIn(content, depth + 1))])];
}

function inflated(bytes: Buffer): Buffer[] {
  const contents: Buffer[] = [];
  for (let start = bytes.indexOf(0x78); start !== -1; start = bytes.indexOf(0x78, start + 1)) {
    if (bytes.readUInt16BE(Math.min(start, bytes.length - 2)) % 31 !== 0) continue;
    try {
      contents.push(inflateRawSync(bytes.subarray(start + 2), { maxOutputLength: 1_000_000 }));
    } catch {
      // Nothing that was deflated.
    }
  }
  return contents.filter(({ length }) => length > 16);
}

function decoded(text: string): Buffer[] {
  const base64 = text.match(/[A-Za-z0-9+/]{40,}={0,2}/g) ?? [];
  const hexadecimal = text.match(/(?:[0-9A-Fa-f]\s*){80,}/g) ?? [];
  const ascii85 = text.match(/[!-uz\s]{40,}~>/g) ?? [];
  return [
    ...base64.map((digits) => Buffer.from(digits, "base64")),
    ...hexadecimal.map((digits) => Buffer.from(digits.replace(/\s/g, ""), "hex")),
    ...ascii85.map((digits) => fromAscii85(digits)),
  ];
}

/** Decodes ASCII85. It begins after the last line `stream`, or after `ID` of an inline image. */
function fromAscii85(encoded: string): Buffer {
  const digits = encoded
    .slice(0, -2)
    .replace(/^[\s\S]*(?:stream\s|\bID\s)/, "")
    .replace(/\s/g, "")
    .replace(/z/g, "!!!!!");
  const bytes: number[] = [];
  for (let at = 0; at < digits.length; at += 5) {
    const group = digits.slice(at, at + 5);
    let value = 0;
    for (const digit of group.padEnd(5, "u")) value = value * 85 + digit.charCodeAt(0) - 33;
    const word = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
    bytes.push(...word.slice(0, group.length - 1));
  }
  return Buffer.from(bytes);
}

export type Rendition = NonNullable<Parameters<Images["open"]>[1]>;

/** Uploads a file and reads it back: the stored original first, then these renditions. */
export async function readBack(
  images: Images,
  bytes: Buffer,
  type: string,
  renditions: readonly Rendition[],
): Promise<Buffer[]> {
  const { id } = await images.add(bytes, { name: "x", type });
  const files: Buffer[] = [];
  for (const rendition of [{}, ...renditions]) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await images.open(id, rendition)).body) chunks.push(chunk);
    files.push(Buffer.concat(chunks));
  }
  return files;
}
