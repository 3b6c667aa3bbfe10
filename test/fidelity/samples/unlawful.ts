import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { gammaChunk, P3_CHUNK, pngChunk } from "../../support/raster-files.ts";
import { type Sample, sample, sceneRgb } from "./sample.ts";

const [WIDTH, HEIGHT] = [60, 40];
const scene = () => sharp(sceneRgb(WIDTH, HEIGHT), { raw: { width: WIDTH, height: HEIGHT, channels: 3 } });
const NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

/** Files with parts of unlawful checksum, place, type, length, value or count, and with names that need decoding. */
export async function unlawfulSamples(): Promise<Sample[]> {
  const profile = await turnedProfile();
  return [...(await pngs(profile)), ...(await jpegs(profile)), ...references(), ...(await turnedPictures())];
}

/** A profile whose red is green: a picture that it applies to looks quite different. */
async function turnedProfile(): Promise<Buffer> {
  const { icc = Buffer.alloc(0) } = await sharp(
    await scene().withIccProfile("p3").png().toBuffer(),
  ).metadata();
  const turned = Buffer.from(icc);
  const next: Record<string, string> = { rXYZ: "gXYZ", gXYZ: "bXYZ", bXYZ: "rXYZ" };
  for (let tag = 0; tag < icc.readUInt32BE(128); tag++) {
    const at = 132 + 12 * tag;
    turned.write(
      next[icc.toString("latin1", at, at + 4)] ?? icc.toString("latin1", at, at + 4),
      at,
      "latin1",
    );
  }
  return turned;
}

async function pngs(profile: Buffer): Promise<Sample[]> {
  const rgb = await scene().png().toBuffer();
  const palette = await scene().png({ palette: true, colours: 16 }).toBuffer();
  const icc = (bytes: Buffer) => pngChunk("iCCP", Buffer.concat([Buffer.from("x\0\0"), deflateSync(bytes)]));
  const linear = gammaChunk(100_000);
  const exif = pngChunk("eXIf", orientation(6));
  const chunks: Record<string, Buffer[]> = {
    nothing: [],
    "lawful iCCP": [icc(profile)],
    "lawful gAMA": [linear],
    "lawful eXIf": [exif],
    "iCCP wrong": [wrong(icc(profile))],
    "iCCP wrong, then right": [wrong(icc(profile)), icc(profile)],
    "iCCP wrong, gAMA": [wrong(icc(profile)), linear],
    "iCCP damaged, gAMA": [pngChunk("iCCP", Buffer.from("x\0\0damaged")), linear],
    "iCCP of another white": [icc(Buffer.from(profile).fill(0, 68, 80))],
    "sRGB wrong, gAMA": [wrong(pngChunk("sRGB", Buffer.of(0))), linear],
    "sRGB of two bytes, gAMA": [pngChunk("sRGB", Buffer.of(0, 0)), linear],
    "sRGB of no known intent, gAMA": [pngChunk("sRGB", Buffer.of(9)), linear],
    "cHRM doubled, gAMA": [P3_CHUNK, pngChunk("cHRM", Buffer.alloc(32)), linear],
    "tRNS wrong": [wrong(pngChunk("tRNS", Buffer.alloc(6)))],
    "tRNS too long": [pngChunk("tRNS", Buffer.alloc(7))],
    "eXIf wrong": [wrong(exif)],
    "eXIf twice": [exif, pngChunk("eXIf", orientation(3))],
    "eXIf of a LONG": [pngChunk("eXIf", orientation(6, 4))],
  };
  const paletteEnd = palette.indexOf("IDAT") - 4;
  return [
    ...Object.entries(chunks).map(([name, added]) =>
      sample("png", `unlawful: ${name}`, inserted(rgb, 33, added)),
    ),
    sample("png", "unlawful: iCCP after the palette", inserted(palette, paletteEnd, [icc(profile)])),
    sample(
      "png",
      "unlawful: tRNS of a palette wrong",
      inserted(palette, paletteEnd, [wrong(pngChunk("tRNS", Buffer.alloc(9)))]),
    ),
    sample("png", "unlawful: iCCP after the pixels", inserted(rgb, rgb.length - 12, [icc(profile)])),
  ];
}

async function jpegs(profile: Buffer): Promise<Sample[]> {
  const plain = await scene().jpeg({ quality: 95, chromaSubsampling: "4:4:4" }).toBuffer();
  const [first, second] = [profile.subarray(0, 200), profile.subarray(200)];
  const part = (number: number, count: number, bytes: Buffer) =>
    segment(0xe2, Buffer.concat([Buffer.from("ICC_PROFILE\0"), Buffer.of(number, count), bytes]));
  const exif = (value: number, type?: number, count?: number) =>
    segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), orientation(value, type, count)]));
  const lab = Buffer.from(profile);
  lab.write("Lab ", 16);
  const segments: Record<string, Buffer[]> = {
    nothing: [],
    "lawful profile": [part(1, 1, profile)],
    "lawful orientation": [exif(6)],
    "profile in parts": [part(1, 2, first), part(2, 2, second)],
    "profile in parts out of order": [part(2, 2, second), part(1, 2, first)],
    "profile without its second part": [part(1, 2, first)],
    "profile with a part twice": [part(1, 2, first), part(1, 2, first), part(2, 2, second)],
    "profile of two counts": [part(1, 2, first), part(2, 3, second)],
    "profile and another": [part(1, 1, profile), part(1, 1, Buffer.from(profile).fill(0, 36, 40))],
    "profile of no part": [part(0, 1, profile)],
    "profile cut": [part(1, 1, profile.subarray(0, -20))],
    "profile of Lab": [part(1, 1, lab)],
    "orientation of a BYTE": [exif(0x0600, 1)],
    "orientation of a LONG": [exif(6, 4)],
    "two values of orientation": [exif(6, 3, 2)],
    "orientation 1, then 6": [exif(1), exif(6)],
    "orientation 6, then 3": [exif(6), exif(3)],
  };
  return Object.entries(segments).map(([name, added]) =>
    sample("jpeg", `unlawful: ${name}`, inserted(plain, 2, added)),
  );
}

/** SVGs that refer to names with characters that URLs or CSS escape. */
function references(): Sample[] {
  const pairs = [
    ["a b", "url(#a%20b)"],
    ["a b", "url(#a\\ b)"],
    ["a b", "url('#a b')"],
    ["a b", "url(#a b)"],
    ["ä", "url(#%c3%a4)"],
    ["a(b)", "url('#a(b)')"],
    ["a(b)", "url(#a(b))"],
    ["a;b@c", "url(#a;b@c)"],
    ["a%20b", "url(#a%20b)"],
    ["ab", "url(\\23 \\61 b)"],
  ] as const;
  const size = `${NAMESPACES} width="${WIDTH}" height="${HEIGHT}"`;
  return pairs.flatMap(([id, reference]) => {
    const server = `<linearGradient id="${id}"><stop stop-color="#0a0"/><stop offset="1" stop-color="#00f"/></linearGradient>`;
    const link = `#${id.replace(/ /g, "%20")}`;
    return [
      [`an attribute, ${reference}`, `${server}<rect width="60" height="40" fill="${reference}"/>`] as const,
      [
        `a style sheet, ${reference}`,
        `<style>rect{stroke:${reference};stroke-width:20}</style>${server}<rect width="60" height="40"/>`,
      ] as const,
      [
        `a link, ${reference}`,
        `<defs><rect id="${id}" width="30" height="30"/></defs><use href="${link}"/>`,
      ] as const,
    ].map(([name, content]) =>
      sample("svg", `reference to ${id} by ${name}`, Buffer.from(`<svg ${size}>${content}</svg>`)),
    );
  });
}

/** SVGs with pictures on their side, and sized by fonts. */
async function turnedPictures(): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let turn = 2; turn <= 8; turn++) {
    const picture = await scene().withMetadata({ orientation: turn }).jpeg({ quality: 95 }).toBuffer();
    const image = `<image x="5" y="5" width="50" height="30" href="data:image/jpeg;base64,${picture.toString("base64")}"/>`;
    samples.push(
      sample(
        "svg",
        `embedded orientation ${turn}`,
        Buffer.from(`<svg ${NAMESPACES} width="60" height="40">${image}</svg>`),
      ),
    );
  }
  const shapes = '<rect width="2em" height="100%" fill="#0a6"/><rect width="10" height="10" fill="#f00"/>';
  for (const attributes of [
    'width="6em" height="3em"',
    'width="6rem" height="3rem" font-size="20"',
    'style="width:6em;height:3em;font-size:20px" viewBox="0 0 120 60"',
  ]) {
    samples.push(
      sample(
        "svg",
        `sized by ${attributes}`,
        Buffer.from(`<svg ${NAMESPACES} ${attributes}>${shapes}</svg>`),
      ),
    );
  }
  return samples;
}

/** An EXIF block with an orientation of any type (SHORT by default) and count. */
function orientation(value: number, type = 3, count = 1): Buffer {
  const block = Buffer.from("4d4d002a000000080001011200030000000100000000000000000000", "hex");
  block.writeUInt16BE(type, 12);
  block.writeUInt32BE(count, 14);
  if (type === 4) block.writeUInt32BE(value, 18);
  else block.writeUInt16BE(value, 18);
  return block;
}

/** A chunk with another checksum. */
function wrong(chunk: Buffer): Buffer {
  return Buffer.concat([chunk.subarray(0, -4), Buffer.of(1, 2, 3, 4)]);
}

function segment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}

function inserted(file: Buffer, at: number, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([file.subarray(0, at), ...parts, file.subarray(at)]);
}
