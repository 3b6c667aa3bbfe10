import { crc32, deflateSync } from "node:zlib";

/** A picture of smooth colours, 8 bits RGB, without metadata. */
export function samplePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(1 + 3 * width);
    for (let x = 0; x < width; x++)
      row.set([(255 * x) / width, (255 * y) / height, (x ^ y) & 0xff], 1 + 3 * x);
    return row;
  });
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.concat(rows))),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

export function sampleSvg(width: number, height: number): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="50%" height="100%" fill="#d93025"/><circle cx="70%" cy="50%" r="20" fill="#123a9c"/></svg>`,
  );
}

/** A page of `width` × `height` points for each colour. */
export function samplePdf(width: number, height: number, colours: readonly string[]): Buffer {
  const first = 3;
  const pages = colours.flatMap((colour, index) => {
    const content = `${colour} rg 10 10 ${width - 20} ${height - 20} re f`;
    return [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents ${first + 2 * index + 1} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    ];
  });
  const kids = colours.map((_, index) => `${first + 2 * index} 0 R`).join(" ");
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Count ${colours.length}/Kids[${kids}]>>`,
    ...pages,
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${object}endobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  const trailer = `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, "latin1");
}

export interface Part {
  bytes: Buffer;
  type: string;
  fileName: string;
}

const BOUNDARY = "a-boundary-that-no-sample-contains";
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** A body of the type {@link MULTIPART} with one file. */
export function multipart({ bytes, type, fileName }: Part): Buffer {
  const disposition = `Content-Disposition: form-data; name="imagedata"; filename="${fileName}"`;
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\nContent-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}
