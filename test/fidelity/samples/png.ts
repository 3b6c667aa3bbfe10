import { constants, crc32 } from "node:zlib";
import sharp from "sharp";
import { exifBlock } from "../../../packages/imaging/test/exif-blocks.ts";
import { type Sample, sample, sceneAt, sceneRgba } from "./sample.ts";
import { chunk, compressedPixels, type PngOptions, writePng } from "./write-png.ts";

const FORMS = [
  ["grey", 1],
  ["grey", 2],
  ["grey", 4],
  ["grey", 8],
  ["grey", 16],
  ["rgb", 8],
  ["rgb", 16],
  ["palette", 1],
  ["palette", 2],
  ["palette", 4],
  ["palette", 8],
  ["grey+alpha", 8],
  ["grey+alpha", 16],
  ["rgba", 8],
  ["rgba", 16],
] as const;

/** PNGs of every form, with the chunks and the damage that encoders and transfers leave. */
export async function pngSamples(): Promise<Sample[]> {
  return [
    ...forms(),
    ...transparencies(),
    ...colours(),
    ...chunks(),
    ...layouts(),
    ...faults(),
    ...(await byEncoders()),
  ];
}

const png = (name: string, options: PngOptions) => sample("png", name, writePng(options));

function forms(): Sample[] {
  const sizes = [
    [64, 48],
    [33, 17],
    [1, 1],
    [3, 200],
  ] as const;
  return FORMS.flatMap(([colour, depth]) =>
    [false, true].flatMap((interlaced) =>
      sizes.map(([width, height]) =>
        png(`${colour} ${depth}${interlaced ? " interlaced" : ""} ${width}x${height}`, {
          colour,
          depth,
          interlaced,
          width,
          height,
        }),
      ),
    ),
  );
}

function transparencies(): Sample[] {
  const found: Sample[] = [];
  for (const [colour, depth] of FORMS) {
    if (colour === "palette") {
      const few = Array.from({ length: 2 ** (depth - 1) || 1 }, (_, index) => (index * 40) % 256);
      found.push(png(`palette ${depth} with alpha`, { colour, depth, between: [chunk("tRNS", few)] }));
      found.push(png(`palette ${depth} with one alpha`, { colour, depth, between: [chunk("tRNS", [0])] }));
    } else if (colour === "grey" || colour === "rgb") {
      for (const interlaced of [false, true]) {
        const level = Math.round(0.2 * (2 ** depth - 1));
        const key = Buffer.alloc(colour === "rgb" ? 6 : 2);
        for (let at = 0; at < key.length; at += 2) key.writeUInt16BE(level, at);
        const shade: PngOptions["shade"] = (x, y) => (x + y < 0.8 ? [0.2, 0.2, 0.2, 1] : sceneAt(x, y));
        const options = { colour, depth, interlaced, shade, between: [chunk("tRNS", key)] };
        found.push(
          png(`${colour} ${depth} with a transparent colour${interlaced ? " interlaced" : ""}`, options),
        );
      }
    }
  }
  return found;
}

function number32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

const GAMMAS = { "1/2.2": 45455, "1/1.8": 55556, "1": 100000, "0.5": 50000, "0.35": 35000, "1/2.6": 38462 };
const SRGB_PRIMARIES = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000];
const ADOBE_PRIMARIES = [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000];

function colours(): Sample[] {
  const found: Sample[] = [];
  for (const [colour, depth] of FORMS.filter(([, depth]) => depth >= 4)) {
    for (const [name, gamma] of Object.entries(GAMMAS)) {
      found.push(
        png(`gamma ${name} ${colour} ${depth}`, { colour, depth, before: [chunk("gAMA", number32(gamma))] }),
      );
    }
  }
  const gamma = (value: number) => chunk("gAMA", number32(value));
  const primaries = (values: number[]) => chunk("cHRM", number32(...values));
  const sets: Record<string, Buffer[]> = {
    "sRGB perceptual": [chunk("sRGB", [0])],
    "sRGB with gamma": [chunk("sRGB", [0]), gamma(45455), primaries(SRGB_PRIMARIES)],
    "sRGB with a wrong gamma": [gamma(100000), chunk("sRGB", [1])],
    "primaries of sRGB": [gamma(45455), primaries(SRGB_PRIMARIES)],
    "primaries of sRGB without gamma": [primaries(SRGB_PRIMARIES)],
    "primaries of Adobe RGB": [gamma(45455), primaries(ADOBE_PRIMARIES)],
    "gamma 0": [gamma(0)],
    "gamma of two bytes": [chunk("gAMA", [0, 1])],
    "cICP sRGB": [chunk("cICP", [1, 13, 0, 1])],
    "a damaged profile": [chunk("iCCP", Buffer.from("x\0\0damaged", "latin1"))],
  };
  for (const colour of ["rgb", "rgba", "palette", "grey"] as const) {
    for (const [name, before] of Object.entries(sets))
      found.push(png(`${name} ${colour}`, { colour, before }));
  }
  return found;
}

function chunks(): Sample[] {
  const text = (type: string, content: string) => chunk(type, Buffer.from(content, "latin1"));
  const sets: Record<string, PngOptions> = {
    "background white": { between: [chunk("bKGD", [0, 255, 0, 255, 0, 255])] },
    "background of a palette": { colour: "palette", between: [chunk("bKGD", [3])] },
    "background grey": { colour: "grey+alpha", between: [chunk("bKGD", [0, 128])] },
    "significant bits": { before: [chunk("sBIT", [5, 6, 5, 1])] },
    "significant bits of 16": { colour: "rgb", depth: 16, before: [chunk("sBIT", [10, 10, 10])] },
    "too many significant bits": { colour: "rgb", before: [chunk("sBIT", [9, 9, 9])] },
    "density square": { between: [chunk("pHYs", Buffer.concat([number32(2835, 2835), Buffer.of(1)]))] },
    "density not square": { between: [chunk("pHYs", Buffer.concat([number32(1, 2), Buffer.of(0)]))] },
    offset: { between: [chunk("oFFs", Buffer.concat([number32(10, 10), Buffer.of(0)]))] },
    "text before": { between: [text("tEXt", "Title\0A title"), text("tEXt", "Comment\0A comment")] },
    "text after": { after: [text("tEXt", "Title\0A title")] },
    "text in UTF-8": { between: [text("iTXt", "Title\0\0\0en\0Title\0A title")] },
    time: { after: [chunk("tIME", [7, 230, 1, 2, 3, 4, 5])] },
    histogram: { colour: "palette", depth: 1, between: [chunk("hIST", [0, 9, 0, 9])] },
    "suggested palette": { colour: "rgb", between: [chunk("PLTE", [255, 0, 0, 0, 255, 0])] },
    "named palette": { between: [text("sPLT", `name\0\x08${"\xff\0\0\xff\0\x01".repeat(3)}`)] },
    "private chunks": {
      before: [text("prVt", "private")],
      between: [text("vpAg", "x")],
      after: [text("teSt", "y")],
    },
    "a huge private chunk": { between: [chunk("prVt", Buffer.alloc(300_000, 7))] },
    "a chunk of no bytes": { between: [chunk("prVt")] },
    "Fireworks' chunks": { between: [chunk("prVW"), chunk("mkBS", Buffer.alloc(2000)), chunk("mkTS")] },
    "Apple's chunk": { between: [text("iDOT", "\0\0\0\x02\0\0\0\0\0\0\0(")] },
    "Android's nine patch": { between: [text("npTc", "\0".repeat(32))] },
    "two gammas": { before: [chunk("gAMA", number32(45455)), chunk("gAMA", number32(45455))] },
    "text twice after": { after: [text("zTXt", "Comment\0\0x"), text("eXIf", "MM\0*\0\0\0\x08\0\0")] },
  };
  return [
    ...Object.entries(sets).map(([name, options]) => png(name, options)),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((orientation) =>
      png(`EXIF orientation ${orientation}`, { between: [chunk("eXIf", exifBlock(orientation))] }),
    ),
  ];
}

function layouts(): Sample[] {
  const found = [1, 7, 100, 8192].map((idatBytes) =>
    png(`IDAT of ${idatBytes} bytes`, { idatBytes, width: 20 }),
  );
  const strategies = ["Z_FILTERED", "Z_HUFFMAN_ONLY", "Z_RLE", "Z_FIXED", "Z_DEFAULT_STRATEGY"] as const;
  for (const name of strategies) found.push(png(`zlib ${name}`, { zlib: { strategy: constants[name] } }));
  for (const level of [0, 1, 9]) found.push(png(`zlib level ${level}`, { zlib: { level } }));
  for (const windowBits of [9, 12]) found.push(png(`zlib window ${windowBits}`, { zlib: { windowBits } }));
  for (const filter of [0, 1, 2, 3, 4] as const) {
    for (const colour of ["rgb", "rgba", "palette", "grey"] as const) {
      found.push(png(`filter ${filter} ${colour}`, { filter, colour, width: 50, height: 50 }));
    }
  }
  for (const colours of [1, 2, 5, 17, 100, 255]) {
    found.push(png(`palette of ${colours}`, { colour: "palette", depth: 8, colours }));
  }
  const frame = (number: number, delay = 10) =>
    chunk("fcTL", Buffer.concat([number32(number, 64, 48, 0, 0), Buffer.of(0, delay, 0, 100, 0, 0)]));
  const red = compressedPixels({ shade: () => [1, 0, 0, 1] });
  const frames = [frame(1), chunk("fdAT", Buffer.concat([number32(2), red]))];
  const animation = chunk("acTL", number32(2, 0));
  found.push(png("animated", { between: [animation, frame(0)], after: frames }));
  found.push(
    png("animated, first picture hidden", {
      between: [chunk("acTL", number32(1, 0))],
      after: [frame(0), chunk("fdAT", Buffer.concat([number32(1), red]))],
    }),
  );
  return found;
}

function faults(): Sample[] {
  const whole = writePng({ width: 64, height: 48 });
  const text = chunk("tEXt", Buffer.from("Title\0A title"));
  const badText = Buffer.concat([text.subarray(0, -4), Buffer.from("\0\0\0\0")]);
  const end = whole.length - 12;
  const wrongCrc = Buffer.from(whole);
  wrongCrc[end - 1] = (wrongCrc[end - 1] ?? 0) ^ 0xff;
  const wrongEnd = Buffer.from(whole);
  wrongEnd[whole.length - 1] = 0;
  const made: Record<string, Buffer> = {
    "without IEND": whole.subarray(0, end),
    "bytes after IEND": Buffer.concat([whole, Buffer.from("trailing data\0\0")]),
    "a ZIP after IEND": Buffer.concat([whole, Buffer.from("PK\x03\x04", "latin1"), Buffer.alloc(500, 1)]),
    "IEND with a wrong CRC": wrongEnd,
    "text with a wrong CRC": writePng({ between: [badText] }),
    "IDAT with a wrong CRC": wrongCrc,
    "cut within IEND": whole.subarray(0, whole.length - 5),
    "cut in the last bytes of the pixels": whole.subarray(0, end - 6),
    "cut at half": whole.subarray(0, whole.length >> 1),
    "more rows than declared": withHeight(whole, 40),
    "fewer rows than declared": withHeight(whole, 60),
    "an empty IDAT first": writePng({ between: [chunk("IDAT")] }),
    "an empty IDAT last": writePng({ after: [chunk("IDAT")] }),
    "palette index out of range": withPalette(10),
    "alpha for more than the palette": writePng({
      colour: "palette",
      depth: 2,
      between: [chunk("tRNS", Array(9).fill(99))],
    }),
    "density after the pixels": writePng({
      after: [chunk("pHYs", Buffer.concat([number32(1, 1), Buffer.of(0)]))],
    }),
    "gamma after the palette": writePng({ colour: "palette", between: [chunk("gAMA", number32(45455))] }),
  };
  return Object.entries(made).map(([name, bytes]) => sample("png", name, bytes));
}

function withHeight(bytes: Buffer, height: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt32BE(height, 20);
  changed.writeUInt32BE(crc32(changed.subarray(12, 29)), 29);
  return changed;
}

/** Pixels of 256 colours, and a palette of fewer. */
function withPalette(colours: number): Buffer {
  const parts = writePng({ colour: "palette", depth: 8 });
  const at = parts.indexOf("PLTE") - 4;
  const rest = parts.subarray(at + 12 + parts.readUInt32BE(at));
  return Buffer.concat([
    parts.subarray(0, at),
    chunk("PLTE", parts.subarray(at + 8, at + 8 + colours * 3)),
    rest,
  ]);
}

async function byEncoders(): Promise<Sample[]> {
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
