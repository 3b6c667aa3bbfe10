import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { samples } from "../samples.ts";
import type { UploadFile } from "./visit.ts";

/** Bytes of the chunk that ends a PNG. */
const IEND_BYTES = 12;

/** A small picture of the named type. */
export function sampleFile(name: string): UploadFile {
  const sample = samples.find((each) => each.name === name);
  if (sample === undefined) throw new TypeError(`There is no sample called ${name}`);
  return { name: `doctor.${name.toLowerCase()}`, type: sample.type, bytes: sample.bytes };
}

/** A tiny picture in a file of a given size that compression cannot reduce. */
export function paddedPng(bytes: number): UploadFile {
  const { bytes: png, ...file } = sampleFile("PNG");
  const padding = randomBytes(bytes);
  // A private, ancillary, unsafe-to-copy chunk: decoders skip it.
  const typed = Buffer.concat([Buffer.from("paDD"), padding]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(padding.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typed));
  const end = png.length - IEND_BYTES;
  return {
    ...file,
    bytes: Buffer.concat([png.subarray(0, end), length, typed, checksum, png.subarray(end)]),
  };
}

/** A document whose pages differ in shape. */
export function twoPagePdf(): Buffer {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 8 4]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 4 8]>>",
  ];
  const offsets: number[] = [];
  let text = "%PDF-1.4\n";
  for (const [index, object] of objects.entries()) {
    offsets.push(text.length);
    text += `${index + 1} 0 obj${object}endobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}` +
      `trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`,
  );
}
