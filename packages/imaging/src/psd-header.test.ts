import { expect, test } from "vitest";
import { readPsdHeader } from "./psd-header.ts";

interface PsdParts {
  version?: number;
  channels?: number;
  width?: number;
  height?: number;
  depth?: number;
  mode?: number;
  layerBytes?: number;
  compression?: number;
  pixels?: Buffer;
}

/** 20 by 10 RGB of 8 bits, not compressed, unless told otherwise. */
function psd(parts: PsdParts = {}): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS", "latin1");
  const version = parts.version ?? 1;
  header.writeUInt16BE(version, 4);
  header.writeUInt16BE(parts.channels ?? 3, 12);
  header.writeUInt32BE(parts.height ?? 10, 14);
  header.writeUInt32BE(parts.width ?? 20, 18);
  header.writeUInt16BE(parts.depth ?? 8, 22);
  header.writeUInt16BE(parts.mode ?? 3, 24);
  const layers = Buffer.alloc((version === 2 ? 8 : 4) + (parts.layerBytes ?? 0));
  if (version === 2) layers.writeBigUInt64BE(BigInt(parts.layerBytes ?? 0));
  else layers.writeUInt32BE(parts.layerBytes ?? 0);
  const colours = Buffer.from("\0\0\0\x03abc", "latin1");
  const resources = Buffer.from("\0\0\0\x02de", "latin1");
  const compression = Buffer.of(0, parts.compression ?? 0);
  return Buffer.concat([header, colours, resources, layers, compression, parts.pixels ?? Buffer.alloc(600)]);
}

function read(bytes: Buffer) {
  return readPsdHeader({
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
  });
}

/** A row table of thirty rows of two bytes, and the rows. */
function packed(countBytes: 2 | 4): Buffer {
  const counts = Buffer.alloc(30 * countBytes);
  for (let row = 0; row < 30; row++) {
    if (countBytes === 2) counts.writeUInt16BE(2, row * 2);
    else counts.writeUInt32BE(2, row * 4);
  }
  return Buffer.concat([counts, Buffer.alloc(60)]);
}

test.each([
  ["not compressed", {}],
  ["with layers", { layerBytes: 1000 }],
  ["packed", { compression: 1, pixels: packed(2) }],
  ["deflated", { compression: 2, pixels: Buffer.alloc(1) }],
  ["a bitmap", { depth: 1, channels: 1, mode: 0, pixels: Buffer.alloc(30) }],
  ["large document", { version: 2, layerBytes: 100 }],
  ["large document, packed", { version: 2, compression: 1, pixels: packed(4) }],
])("measures a PSD: %s", async (_, parts) => {
  expect(await read(psd(parts))).toEqual({ width: 20, height: 10 });
});

test("finds every cut", async () => {
  for (const parts of [{}, { compression: 1, pixels: packed(2) }, { version: 2, layerBytes: 9 }]) {
    const whole = psd(parts);
    for (let length = 0; length < whole.length; length++) {
      await expect(read(whole.subarray(0, length)), `${length}`).rejects.toMatchObject({
        code: "unsupported_media",
      });
    }
  }
});

test.each([
  ["another signature", Buffer.concat([Buffer.from("8BPX"), psd().subarray(4)]), "header"],
  ["version 3", psd({ version: 3 }), "version is 3"],
  ["no channels", psd({ channels: 0 }), "0 channels"],
  ["57 channels", psd({ channels: 57 }), "57 channels"],
  ["no width", psd({ width: 0 }), "0 by 10"],
  ["a side over the format's", psd({ height: 30_001 }), "20 by 30001"],
  ["5 bits", psd({ depth: 5 }), "5 bits"],
  ["colour mode 5", psd({ mode: 5 }), "colour mode is 5"],
  ["compression 4", psd({ compression: 4 }), "compression is 4"],
  ["a row table larger than the file", psd({ height: 30_000, channels: 56, compression: 1 }), "truncated"],
  ["a length beyond any file", psd({ version: 2 }).fill(0xff, 39, 47), "truncated"],
])("refuses %s", async (_, bytes, reason) => {
  await expect(read(bytes)).rejects.toMatchObject({
    code: "unsupported_media",
    message: expect.stringContaining(reason),
  });
});
