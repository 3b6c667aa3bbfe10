import { open } from "node:fs/promises";
import { ServiceError } from "@outrigger/core";
import type { ImageFormat, OriginalType, Renderer, RenderSource, Size } from "@outrigger/core/images";
import { type Admitting, createFakeRenderer } from "./fake-renderer.ts";

/** Bytes that are read for the size of a picture. */
const MAX_HEADER_BYTES = 65_536;

/** A picture of one pixel, or of one empty page, in each format. */
const RENDITIONS: Record<ImageFormat, Buffer> = {
  png: base64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWPo6OgAAAM0AZmUse0H",
    "AAAAAElFTkSuQmCC",
  ),
  jpg: base64(
    "/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARES",
    "EhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAABAAEDASIAAhEB",
    "AxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAA",
    "AAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AKAA/9k=",
  ),
  gif: base64("R0lGODlhAQABAIAAAExpcYiIiCH5BAUAAAAALAAAAAABAAEAAAICTAEAOw=="),
  webp: base64("UklGRiQAAABXRUJQVlA4IBgAAABQAQCdASoBAAEAAUAmJaQABYwAAP6igAA="),
  avif: base64(
    "AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp",
    "bG9jAAAAAERAAAEAAQAAAAAA+gABAAAAAAAAABsAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAAB",
    "AAAAVmlwcnAAAAA4aXBjbwAAAAxhdjFDgSACAAAAABRpc3BlAAAAAAAAAAEAAAABAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAA",
    "AAEAAQOBAgMAAAAjbWRhdBIACgc4AAaQENBpMg4ZQmMEwAA0AACQQMkcFA==",
  ),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
  psd: base64("OEJQUwABAAAAAAAAAAMAAAABAAAAAQAIAAMAAAAAAAAAAAAAAAAAAIiIiA=="),
  pdf: Buffer.from(
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
      "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 1]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
  ),
};

const PREVIEW = { placeholder: "3OcRJYB4d3h/iIeHeEh3eIhw+j3A", color: "#888888", alpha: false };

/** Reads the size from the first bytes of an original; `null`: they have none. */
const SIZES: Record<OriginalType, (header: Buffer) => Size | null> = {
  "image/png": (header) => sizeAt(header, 24, (at) => header.readUInt32BE(at), 16, 20),
  "image/gif": (header) => sizeAt(header, 10, (at) => header.readUInt16LE(at), 6, 8),
  "image/x-photoshop": (header) => sizeAt(header, 22, (at) => header.readUInt32BE(at), 18, 14),
  "image/jpeg": sizeOfJpeg,
  "image/svg+xml": (header) =>
    sizeOfText(header, /<svg[^>]*\bwidth="([\d.]+)/, /<svg[^>]*\bheight="([\d.]+)/, 1),
  "application/pdf": (header) =>
    sizeOfText(header, /MediaBox ?\[0 0 ([\d.]+)/, /MediaBox ?\[0 0 [\d.]+ ([\d.]+)/, 2),
};

/**
 * A renderer for tests that are not about pictures: it starts no process, and decodes and removes nothing. It admits each file
 * whose header tells a size, as one page with a fixed preview. Every rendition is a valid picture of 1 × 1 pixels.
 */
export function createHeaderRenderer(): Renderer {
  const fake = createFakeRenderer((admitting) => {
    sizeOf(admitting).then(
      (size) => admitting.accept({ ...size, ...PREVIEW, pages: 1, cleaned: null }),
      (error: unknown) => admitting.refuse(error),
    );
  });
  return Object.assign(fake, {
    canRender: () => true,
    render: async (_source: RenderSource, _type: OriginalType, { format }: { format: ImageFormat }) => ({
      bytes: Buffer.from(RENDITIONS[format]),
    }),
  });
}

async function sizeOf({ source, type }: Admitting): Promise<Size> {
  const read = Object.hasOwn(SIZES, type) ? SIZES[type as OriginalType] : () => null;
  const size = read(await headerOf(source));
  if (size === null) throw new ServiceError("unsupported_media", `The header of this ${type} has no size`);
  return size;
}

async function headerOf(source: RenderSource): Promise<Buffer> {
  if ("bytes" in source) return Buffer.from(source.bytes.subarray(0, MAX_HEADER_BYTES));
  const file = await open(source.path);
  try {
    const header = Buffer.alloc(MAX_HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, header.length, source.start ?? 0);
    return header.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function sizeAt(
  header: Buffer,
  length: number,
  read: (at: number) => number,
  width: number,
  height: number,
): Size | null {
  return header.length < length ? null : { width: read(width), height: read(height) };
}

/** From the first frame header, ITU T.81 B.2.2. */
function sizeOfJpeg(header: Buffer): Size | null {
  let at = 2;
  while (at + 9 <= header.length && header[at] === 0xff) {
    const marker = header.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: header.readUInt16BE(at + 5), width: header.readUInt16BE(at + 7) };
    at += 2 + header.readUInt16BE(at + 2);
  }
  return null;
}

/** `scale`: pixels per unit. */
function sizeOfText(header: Buffer, width: RegExp, height: RegExp, scale: number): Size | null {
  const text = header.toString("latin1");
  const [across, down] = [width, height].map((pattern) => Number(pattern.exec(text)?.[1]) * scale);
  return across && down ? { width: across, height: down } : null;
}

function base64(...lines: string[]): Buffer {
  return Buffer.from(lines.join(""), "base64");
}
