import { deflateRawSync, deflateSync } from "node:zlib";
import sharp from "sharp";
import { type Sample, sample, sceneRgba } from "./sample.ts";
import { chunk, compressedPixels, type PngOptions, writePng } from "./write-png.ts";

const SIZE = { width: 20, height: 12 } as const;
const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 25;

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
};

/** PNGs of every colour type and depth, and with headers and chunks of wrong kinds, lengths and values. */
export function oddPngs(): Sample[] {
  return [...forms(), ...headers(), ...transparencies(), ...palettes(), ...values(), ...structures()];
}

const png = (name: string, options: PngOptions) => sample("png", name, writePng({ ...SIZE, ...options }));

function forms(): Sample[] {
  const depths = {
    grey: [1, 2, 4, 8, 16],
    rgb: [8, 16],
    palette: [1, 2, 4, 8],
    "grey+alpha": [8, 16],
    rgba: [8, 16],
  };
  return (Object.keys(depths) as (keyof typeof depths)[]).flatMap((colour) =>
    depths[colour].map((depth, index) =>
      png(`${colour} of ${depth} bits`, { colour, depth: depth as 8, interlaced: index % 2 === 0 }),
    ),
  );
}

/** A PNG whose header has these values, with the pixels of another. */
function headed(
  name: string,
  bytes: readonly number[],
  [width, height]: readonly [number, number] = [20, 12],
): Sample {
  const whole = writePng(SIZE);
  const header = chunk("IHDR", Buffer.concat([uint32(width, height), Buffer.from(bytes)]));
  const file = [whole.subarray(0, SIGNATURE_BYTES), header, whole.subarray(SIGNATURE_BYTES + HEADER_BYTES)];
  return sample("png", `header ${name}`, Buffer.concat(file));
}

function headers(): Sample[] {
  return [
    ...[
      [0, 0],
      [0, 12],
      [20, 0],
      [1, 1],
      [0x7fff_ffff, 1],
      [1, 0x7fff_ffff],
      [0xffff_ffff, 0xffff_ffff],
    ].map(([width = 0, height = 0]) => headed(`${width}x${height}`, [8, 6, 0, 0, 0], [width, height])),
    ...[
      [3, 0],
      [16, 3],
      [1, 2],
      [32, 2],
      [8, 1],
      [8, 5],
      [8, 7],
      [0, 0],
    ].map(([depth = 0, colour = 0]) => headed(`depth ${depth}, colour ${colour}`, [depth, colour, 0, 0, 0])),
    headed("compression 1", [8, 6, 1, 0, 0]),
    headed("filter 1", [8, 6, 0, 1, 0]),
    headed("interlace 2", [8, 6, 0, 0, 2]),
    headed("too short", [8, 6]),
  ];
}

function transparencies(): Sample[] {
  const colours = ["grey", "rgb", "palette", "grey+alpha", "rgba"] as const;
  return colours.flatMap((colour) =>
    [0, 1, 2, 6, 300].map((length) =>
      png(`tRNS of ${length} bytes in ${colour}`, { colour, between: [chunk("tRNS", Buffer.alloc(length))] }),
    ),
  );
}

function palettes(): Sample[] {
  const withPalette = (length: number, colour: "grey" | "rgb" = "rgb") =>
    png(`PLTE of ${length} bytes in ${colour}`, {
      colour,
      between: [chunk("PLTE", Buffer.alloc(length, 99))],
    });
  const whole = writePng({ ...SIZE, colour: "palette", depth: 8 });
  const at = whole.indexOf("PLTE") - 4;
  const end = whole.indexOf("IDAT") - 4;
  const replaced = (name: string, ...chunks: Buffer[]) =>
    sample("png", `palette ${name}`, Buffer.concat([whole.subarray(0, at), ...chunks, whole.subarray(end)]));
  return [
    ...[0, 3, 4, 768, 771].map((length) => withPalette(length)),
    withPalette(3, "grey"),
    replaced("missing"),
    replaced("empty", chunk("PLTE", [])),
    replaced("of one colour", chunk("PLTE", [1, 2, 3])),
    replaced("of 257 colours", chunk("PLTE", Buffer.alloc(771))),
    replaced("doubled", chunk("PLTE", Buffer.alloc(768)), chunk("PLTE", Buffer.alloc(768))),
  ];
}

function values(): Sample[] {
  const chunks: Record<string, Buffer[]> = {
    "cICP PQ": [chunk("cICP", [9, 16, 0, 1])],
    "cICP unknown": [chunk("cICP", [255, 255, 255, 255])],
    "cICP too short": [chunk("cICP", [1])],
    "pHYs 0": [chunk("pHYs", Buffer.alloc(9))],
    "pHYs largest": [chunk("pHYs", Buffer.alloc(9, 255))],
    "iCCP garbage": [chunk("iCCP", Buffer.concat([Buffer.from("p\0\0"), deflateSync(Buffer.alloc(200, 7))]))],
    "iCCP cut": [chunk("iCCP", Buffer.from("p\0\0x"))],
    "iCCP nameless": [chunk("iCCP", [])],
    "sBIT 0": [chunk("sBIT", [0, 0, 0, 0])],
    "eXIf orientation 0": [chunk("eXIf", exif(0))],
    "eXIf orientation 9": [chunk("eXIf", exif(9))],
    "eXIf orientation 65535": [chunk("eXIf", exif(65_535))],
    "eXIf cut": [chunk("eXIf", exif(6).subarray(0, 11))],
    "acTL no frames": [chunk("acTL", uint32(0, 0))],
    "acTL largest": [chunk("acTL", uint32(0x7fff_ffff, 0xffff_ffff))],
    "fcTL without divisor": [
      chunk("acTL", uint32(1, 0)),
      chunk("fcTL", Buffer.concat([uint32(0, 20, 12, 0, 0), Buffer.alloc(6)])),
    ],
    "unknown critical chunk": [chunk("ABCD", [1])],
    "second IHDR": [chunk("IHDR", Buffer.alloc(13))],
  };
  return Object.entries(chunks).map(([name, before]) => png(name, { before }));
}

function exif(orientation: number): Buffer {
  const block = Buffer.from("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", "latin1");
  block.writeUInt16BE(orientation, 18);
  return block;
}

function structures(): Sample[] {
  const whole = writePng(SIZE);
  const at = whole.indexOf("IDAT") - 4;
  const before = whole.subarray(0, at);
  const end = chunk("IEND");
  const packed = compressedPixels({ ...SIZE });
  const put = (name: string, ...parts: Buffer[]) => sample("png", name, Buffer.concat(parts));
  const apple = chunk("CgBI", [0x50, 0, 0x20, 6]);
  return [
    put("without pixels", before, end),
    put("empty IDAT", before, chunk("IDAT", []), end),
    put("half of its pixels", before, chunk("IDAT", packed.subarray(0, packed.length >> 1)), end),
    put("more pixels than it has", before, chunk("IDAT", deflateSync(Buffer.alloc(9999))), end),
    put("pixels not compressed", before, chunk("IDAT", Buffer.alloc(500, 9)), end),
    put("raw deflate", before, chunk("IDAT", deflateRawSync(Buffer.alloc(972))), end),
    put("of Apple", whole.subarray(0, SIGNATURE_BYTES), apple, whole.subarray(SIGNATURE_BYTES)),
    put("without IEND", whole.subarray(0, -12)),
    put("signature alone", whole.subarray(0, SIGNATURE_BYTES)),
    put("header alone", whole.subarray(0, SIGNATURE_BYTES + HEADER_BYTES)),
    put("header twice", whole.subarray(0, SIGNATURE_BYTES + HEADER_BYTES), whole.subarray(SIGNATURE_BYTES)),
    put("two files", whole, whole),
    put("filter 9", before, chunk("IDAT", deflateSync(Buffer.alloc(972, 9))), end),
  ];
}

/** What sharp writes with different options. */
export async function encodedPngs(): Promise<Sample[]> {
  const [width, height] = [80, 60];
  const picture = () => sharp(sceneRgba(width, height), { raw: { width, height, channels: 4 } });
  const made: Record<string, Promise<Buffer>> = {
    sharp: picture().png().toBuffer(),
    "sharp palette": picture().png({ palette: true, colours: 16 }).toBuffer(),
    "sharp progressive": picture().png({ progressive: true }).toBuffer(),
    "sharp grey 16": picture().greyscale().toColourspace("grey16").png().toBuffer(),
    "sharp with Display P3": picture().withIccProfile("p3").png().toBuffer(),
    "sharp with sRGB": picture().withIccProfile("srgb").png().toBuffer(),
    "sharp with Display P3, 16": picture().toColourspace("rgb16").withIccProfile("p3").png().toBuffer(),
    "sharp with EXIF": picture()
      .withExif({ IFD0: { Copyright: "none" } })
      .png()
      .toBuffer(),
    "sharp with density": picture().withMetadata({ density: 300 }).png().toBuffer(),
  };
  return Promise.all(
    Object.entries(made).map(async ([name, bytes]) => sample("png", `by ${name}`, await bytes)),
  );
}
