import { crc32, deflateSync } from "node:zlib";
import type { ImageFormat, OriginalType } from "@outrigger/core/images";

/** The upright size of every sample, in pixels. */
export const SAMPLE_SIZE = { width: 64, height: 32 };

/** Frames of the GIF sample. */
export const SAMPLE_FRAMES = 3;

/** A readable original of each type, built byte by byte so that no image library is needed. */
export const samples: Record<OriginalType, Buffer> = {
  "image/png": pngSample(),
  "image/jpeg": Buffer.from(
    "/9j/2wBDAA0NDQ0ODQ4QEA4UFhMWFB4bGRkbHi0gIiAiIC1EKjIqKjIqRDxJOzc7STxsVUtLVWx9aWNpfZeHh5e+tb75+f//2wBDAQ0NDQ0O" +
      "DQ4QEA4UFhMWFB4bGRkbHi0gIiAiIC1EKjIqKjIqRDxJOzc7STxsVUtLVWx9aWNpfZeHh5e+tb75+f//wgARCAAgAEADASIAAhEBAxEB" +
      "/8QAFgABAQEAAAAAAAAAAAAAAAAAAwUG/8QAFwEBAQEBAAAAAAAAAAAAAAAAAwUEB//aAAwDAQACEAMQAAAAwzUWsYpzUWCpNako1JzU" +
      "WCnNaiw8jnNRYKk5qLDUmtSUKf8A/8QAFxAAAwEAAAAAAAAAAAAAAAAAAAIDYf/aAAgBAQABPwBYYLDBYYLDBYYLDBYYLDBYYLDBYYLD" +
      "BYYLDBYYLDBYYLDBYYLDBYYLDBYYLDBYYLDBYYLDBYYLDBYYLDD/xAAXEQADAQAAAAAAAAAAAAAAAAAAAgNh/9oACAECAQE/AGvo19Gv" +
      "o19Gvo19Gvo19P/EABcRAAMBAAAAAAAAAAAAAAAAAAADBGH/2gAIAQMBAT8ATTomnRNOiadE06Jp0TTomnT/2Q==",
    "base64",
  ),
  "image/gif": gifSample(),
  "image/svg+xml": Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="32" viewBox="0 0 64 32">' +
      '<rect width="64" height="32" fill="#fc0"/><circle cx="20" cy="16" r="12" fill="#036"/></svg>',
  ),
  "image/x-photoshop": psdSample(),
  "application/pdf": pdfSample(),
};

const SECRET = "A garden in Paris, 48.8584 N";

/** A PDF that runs a script when it is opened. */
export const actingPdf = pdfSample(`/OpenAction<</S/JavaScript/JS(app.alert\\("${SECRET}"\\))>>`);

/** Originals with content that must not be stored: `secret` is in their bytes. */
export const tellingSamples: readonly { type: OriginalType; bytes: Buffer; secret: string }[] = [
  { type: "image/png", bytes: commentedPng(), secret: SECRET },
  { type: "image/jpeg", bytes: commentedJpeg(), secret: SECRET },
  { type: "image/gif", bytes: commentedGif(), secret: SECRET },
  {
    type: "image/svg+xml",
    bytes: Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="32"><script>alert(1)</script><path d="M0 0h9v9"/></svg>',
    ),
    secret: "alert",
  },
];

/** A well-formed PNG of 60 bytes that declares 100,000 pixels per side. */
export const hugePng = png(100_000, 100_000, Buffer.alloc(10));

const SIGNATURES: Record<ImageFormat, RegExp> = {
  png: /^\x89PNG\r\n[^ ]\n/,
  jpg: /^\xff\xd8\xff/,
  gif: /^GIF8[79]a/,
  svg: /<svg/,
  psd: /^8BPS/,
  pdf: /^%PDF-/,
  webp: /^RIFF....WEBP/s,
  avif: /^.{4}ftypavif/s,
};

/** Whether bytes have the signature of `format`. */
export function looksLike(bytes: Buffer, format: ImageFormat): boolean {
  return SIGNATURES[format].test(bytes.toString("latin1", 0, 256));
}

/** The width and height in the header of a PNG, JPEG, GIF or PSD. */
export function declaredSize(
  bytes: Buffer,
  format: "png" | "jpg" | "gif" | "psd",
): { width: number; height: number } {
  if (format === "psd") return { width: bytes.readUInt32BE(18), height: bytes.readUInt32BE(14) };
  if (format === "png") return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (format === "gif") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let marker = 2;
  // Reads segments up to the frame header: SOF0 to SOF15 without DHT, JPG and DAC.
  while (!/^(?:c[0-35-79-bd-f])$/.test(bytes.toString("hex", marker + 1, marker + 2))) {
    marker += 2 + bytes.readUInt16BE(marker + 2);
  }
  return { width: bytes.readUInt16BE(marker + 7), height: bytes.readUInt16BE(marker + 5) };
}

function pngSample(): Buffer {
  const { width, height } = SAMPLE_SIZE;
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows.set([x * 4, y * 8, (x * y) & 255], y * (1 + width * 3) + 1 + x * 3);
  }
  return png(width, height, rows);
}

/** With a `tEXt` chunk after its header (W3C PNG, 11.3.4.3). */
function commentedPng(): Buffer {
  const plain = samples["image/png"];
  const headerEnd = 8 + 12 + 13;
  const chunk = pngChunk("tEXt", Buffer.from(`Comment\0${SECRET}`, "latin1"));
  return Buffer.concat([plain.subarray(0, headerEnd), chunk, plain.subarray(headerEnd)]);
}

/** With a COM segment after its start (ITU-T T.81, B.2.4.5). */
function commentedJpeg(): Buffer {
  const plain = samples["image/jpeg"];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(2 + SECRET.length);
  const segment = [Buffer.of(0xff, 0xfe), length, Buffer.from(SECRET, "latin1")];
  return Buffer.concat([plain.subarray(0, 2), ...segment, plain.subarray(2)]);
}

/** With a comment extension before its trailer (GIF89a, section 24). */
function commentedGif(): Buffer {
  const plain = samples["image/gif"];
  const comment = [Buffer.of(0x21, 0xfe, SECRET.length), Buffer.from(SECRET, "latin1"), Buffer.of(0)];
  return Buffer.concat([plain.subarray(0, -1), ...comment, plain.subarray(-1)]);
}

/** 8-bit RGB (W3C PNG, sections 5 and 11). */
function png(width: number, height: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunks = { IHDR: header, IDAT: deflateSync(rows), IEND: Buffer.alloc(0) };
  const parts = Object.entries(chunks).map(([name, data]) => pngChunk(name, data));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
}

function pngChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

/** An animation of {@link SAMPLE_FRAMES} plain colours (GIF89a). */
function gifSample(): Buffer {
  const { width, height } = SAMPLE_SIZE;
  const palette = Buffer.alloc(3 * 128);
  palette.set([255, 0, 0, 0, 255, 0, 0, 0, 255]);
  const parts = [Buffer.from("GIF89a", "latin1"), uint16s(width, height), Buffer.of(0x86, 0, 0), palette];
  parts.push(Buffer.from("\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", "latin1"));
  for (let frame = 0; frame < SAMPLE_FRAMES; frame++) {
    parts.push(Buffer.of(0x21, 0xf9, 4, 0, 10, 0, 0, 0), Buffer.of(0x2c), uint16s(0, 0, width, height));
    parts.push(Buffer.of(0, 7));
    // Codes stay at 8 bits if the table is cleared before it has 256 entries: LZW without compression.
    for (let left = width * height; left > 0; left -= 100) {
      const run = Buffer.alloc(Math.min(left, 100), frame);
      parts.push(Buffer.of(run.length + 1, 128), run);
    }
    parts.push(Buffer.of(1, 129, 0));
  }
  return Buffer.concat([...parts, Buffer.of(0x3b)]);
}

/** RGB, without layers, uncompressed. */
function psdSample(): Buffer {
  const { width, height } = SAMPLE_SIZE;
  const header = Buffer.alloc(26);
  header.write("8BPS", 0, "latin1");
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(3, 12);
  header.writeUInt32BE(height, 14);
  header.writeUInt32BE(width, 18);
  header.writeUInt16BE(8, 22);
  header.writeUInt16BE(3, 24);
  return Buffer.concat([header, Buffer.alloc(4 * 3), Buffer.alloc(2), Buffer.alloc(width * height * 3, 200)]);
}

/** One page at half the sample size in points, which is the sample size at 2 px per point. */
function pdfSample(catalogEntries = ""): Buffer {
  const { width, height } = SAMPLE_SIZE;
  const drawing = "1 0.8 0 rg 0 0 16 16 re f";
  const objects = [
    `<</Type/Catalog/Pages 2 0 R${catalogEntries}>>`,
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width / 2} ${height / 2}]/Contents 4 0 R>>`,
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  text += `trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}
