import sharp, { type Sharp } from "sharp";

/** A photograph-like picture: smooth colours and grain. */
export async function photo(width: number, height: number): Promise<Sharp> {
  const gradient = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <defs><radialGradient id="g"><stop offset="0" stop-color="#fc6"/><stop offset="1" stop-color="#135"/></radialGradient></defs>
      <rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );
  const grain = await sharp({
    create: {
      width,
      height,
      channels: 3,
      background: "#000",
      noise: { type: "gaussian", mean: 128, sigma: 20 },
    },
  })
    .png({ compressionLevel: 1 })
    .toBuffer();
  return sharp(gradient)
    .removeAlpha()
    .composite([{ input: grain, blend: "soft-light" }]);
}

export async function jpegPhoto(width = 1200, height = 900): Promise<Buffer> {
  return (await photo(width, height)).jpeg({ quality: 92 }).toBuffer();
}

export async function pngPhoto(width = 400, height = 300): Promise<Buffer> {
  return (await photo(width, height)).png().toBuffer();
}

/** Left half transparent, right half red. */
export async function halfTransparentPng(width = 64, height = 32): Promise<Buffer> {
  const right = await sharp({ create: { width: width / 2, height, channels: 4, background: "#f00" } })
    .png()
    .toBuffer();
  return sharp({ create: { width, height, channels: 4, background: "#0000" } })
    .composite([{ input: right, left: width / 2, top: 0 }])
    .png()
    .toBuffer();
}

/** `frames` frames of different colours, 100 ms each. */
export async function animatedGif(frames = 5, width = 80, height = 60): Promise<Buffer> {
  const pages = await Promise.all(
    Array.from({ length: frames }, (_, index) =>
      sharp({
        create: { width, height, channels: 3, background: { r: index * 40, g: 80, b: 200 - index * 30 } },
      })
        .png()
        .toBuffer(),
    ),
  );
  return sharp(pages, { join: { animated: true } })
    .gif({ delay: pages.map(() => 100), loop: 0, keepDuplicateFrames: true })
    .toBuffer();
}

export const svgDrawing = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80" viewBox="0 0 120 80">' +
    '<rect width="120" height="80" fill="#fff"/><circle cx="60" cy="40" r="30" fill="#c33"/></svg>',
);

/** A flat 8-bit RGB Photoshop document without layers. */
export function flatPsd(width = 20, height = 10): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS", 0, "latin1");
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(3, 12);
  header.writeUInt32BE(height, 14);
  header.writeUInt32BE(width, 18);
  header.writeUInt16BE(8, 22);
  header.writeUInt16BE(3, 24);
  // Empty colour mode, resources and layers; then raw planes.
  return Buffer.concat([header, Buffer.alloc(12), Buffer.alloc(2), Buffer.alloc(width * height * 3, 0x77)]);
}

/** One empty A4 page. */
export function emptyPdf(): Buffer {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${body}endobj\n`;
    return offset;
  });
  const xref = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const offset of offsets) text += `${String(offset).padStart(10, "0")} 00000 n \n`;
  return Buffer.from(
    `${text}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`,
    "latin1",
  );
}
