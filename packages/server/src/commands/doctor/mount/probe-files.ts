import { randomBytes } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { samples } from "../samples.ts";
import type { UploadFile } from "./visit.ts";

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** A small picture of the named type. */
export function sampleFile(name: string): UploadFile {
  const sample = samples.find((each) => each.name === name);
  if (sample === undefined) throw new TypeError(`There is no sample called ${name}`);
  return { name: `doctor.${name.toLowerCase()}`, type: sample.type, bytes: sample.bytes };
}

/** A picture of noise of about a given size, which neither compression nor cleaning reduces. */
export function noisePng(bytes: number): UploadFile {
  const side = Math.floor(Math.sqrt(bytes / 3));
  const rows = randomBytes(side * (1 + 3 * side));
  // Each row begins with its filter: none.
  for (let row = 0; row < side; row++) rows[row * (1 + 3 * side)] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8); // 8 bits of red, green and blue.
  return {
    ...sampleFile("PNG"),
    bytes: Buffer.concat([
      PNG_SIGNATURE,
      pngChunk("IHDR", header),
      pngChunk("IDAT", deflateSync(rows, { level: 0 })),
      pngChunk("IEND", Buffer.alloc(0)),
    ]),
  };
}

function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
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
