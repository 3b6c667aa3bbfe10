import sharp from "sharp";
import { halvesHeic } from "../support/heic-samples.ts";
import { animatedGif } from "../support/pictures.ts";
import type { Bomb } from "./bomb.ts";

/** A RIFF chunk of a WebP (RFC 9649 §2.3). */
function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function webp(...chunks: Buffer[]): Buffer {
  return chunk("RIFF", Buffer.concat([Buffer.from("WEBP"), ...chunks]));
}

/** A lossless WebP of up to 16384 pixels a side that has almost no data. */
function emptyLossless(width: number, height: number): Buffer {
  const data = Buffer.alloc(16, 0x55);
  data[0] = 0x2f;
  data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return webp(chunk("VP8L", data));
}

/** The animation of a WebP with its frames repeated. */
function repeated(animation: Buffer, times: number): Buffer {
  const frames: Buffer[] = [];
  const others: Buffer[] = [];
  for (let at = 12; at + 8 <= animation.length; ) {
    const size = animation.readUInt32LE(at + 4);
    const end = at + 8 + size + (size % 2);
    (animation.toString("latin1", at, at + 4) === "ANMF" ? frames : others).push(animation.subarray(at, end));
    at = end;
  }
  return webp(...others, ...Array.from({ length: times }, () => frames).flat());
}

/** A HEIF file whose size (box `ispe`, ISO/IEC 23008-12 §6.5.3) is another. */
function resized(file: Buffer, side: number): Buffer {
  const changed = Buffer.from(file);
  for (let at = changed.indexOf("ispe"); at !== -1; at = changed.indexOf("ispe", at + 4)) {
    changed.writeUInt32BE(side, at + 8);
    changed.writeUInt32BE(side, at + 12);
  }
  return changed;
}

/** A little-endian TIFF of directories with these entries, each naming the next. */
function tiff(directories: number, side: number): Buffer {
  const entries = [
    [256, 4, side],
    [257, 4, side],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [277, 3, 1],
    [278, 4, side],
    [279, 4, 16],
  ] as const;
  const size = 2 + entries.length * 12 + 4;
  const file = Buffer.alloc(24 + directories * size);
  file.write("II*\0", "latin1");
  file.writeUInt32LE(24, 4);
  for (let index = 0; index < directories; index++) {
    let at = 24 + index * size;
    file.writeUInt16LE(entries.length, at);
    at += 2;
    for (const [tag, format, value] of entries) {
      file.writeUInt16LE(tag, at);
      file.writeUInt16LE(format, at + 2);
      file.writeUInt32LE(1, at + 4);
      file.writeUInt32LE(value, at + 8);
      at += 12;
    }
    file.writeUInt32LE(index === directories - 1 ? 0 : at + 4, at);
  }
  return file;
}

/** Files of the types that are converted. */
export async function convertibles(): Promise<Bomb[]> {
  const animation = await sharp(await animatedGif(2), { animated: true })
    .webp()
    .toBuffer();
  const avif = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#777" } })
    .avif()
    .toBuffer();
  return [
    {
      title: "a WebP that declares 16384²",
      type: "image/webp",
      ends: "refused",
      bytes: emptyLossless(16_384, 16_384),
    },
    { title: "a WebP of 2000 frames", type: "image/webp", ends: "refused", bytes: repeated(animation, 1000) },
    {
      title: "an AVIF that declares 30000²",
      type: "image/avif",
      ends: "refused",
      bytes: resized(avif, 30_000),
    },
    {
      title: "a HEIC that declares 30000²",
      type: "image/heic",
      ends: "refused",
      bytes: resized(halvesHeic, 30_000),
    },
    { title: "a TIFF of 100,000 pages", type: "image/tiff", ends: "bounded", bytes: tiff(100_000, 4) },
  ];
}
