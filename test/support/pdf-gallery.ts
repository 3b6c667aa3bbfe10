import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { firstObjectOf, type SampleObject, type SamplePage, samplePdf } from "./pdf-samples.ts";
import { programs, run } from "./programs.ts";

const FIRST = firstObjectOf(1);
const A6 = "/MediaBox[0 0 298 420]";
const PICTURE = { width: 120, height: 90 };

/** Small documents that each use one feature of PDF. */
export async function pdfGallery(): Promise<Map<string, Buffer>> {
  const gallery = new Map<string, Buffer>();
  const add = (name: string, page: SamplePage, objects: SampleObject[] = [], options = {}): void => {
    gallery.set(name, samplePdf([{ ...page, entries: `${A6}${page.entries ?? ""}` }], objects, options));
  };
  for (const [name, page] of standardFonts()) add(name, page);
  for (const [name, page] of drawings()) add(name, page);
  for (const [name, entries] of boxes()) add(name, { content: SCENE, entries });
  for (const [name, image] of await images()) {
    add(name, { content: "q 240 0 0 180 30 120 cm /I Do Q", resources: `/XObject<</I ${FIRST} 0 R>>` }, [
      image,
      ...(name.endsWith("soft mask") ? [grey(Buffer.from(ramp(1)))] : []),
    ]);
  }
  for (const [name, annotation, appearance] of annotations()) {
    const entries = `/Annots[<</Type/Annot/Rect[40 200 240 300]/F 4${annotation}>>]`;
    add(name, { content: SCENE, entries }, appearance === undefined ? [] : [appearance]);
  }
  add("form field", { entries: `/Annots[${FIRST} 0 R]` }, [FIELD], {
    catalogue: `/AcroForm<</Fields[${FIRST} 0 R]/NeedAppearances true/DA(/Helv 0 Tf 0 g)/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
  });
  return gallery;
}

const SCENE =
  ".9 .95 1 rg 0 0 298 420 re f 1 0 0 rg 30 30 100 120 re f 0 .5 0 RG 6 w 20 400 m 280 200 l S 0 0 1 rg 150 60 m 250 60 l 200 160 l f";
const FIELD =
  "<</Type/Annot/Subtype/Widget/Rect[40 200 260 240]/F 4/T(field)/FT/Tx/V(Filled in)/DA(/Helv 20 Tf 0 0 .6 rg)/MK<</BG[.9 .9 1]/BC[0 0 0]>>>>";

function standardFonts(): [string, SamplePage][] {
  const names = [
    "Helvetica",
    "Helvetica-Bold",
    "Times-Roman",
    "Times-Italic",
    "Courier",
    "Courier-Bold",
    "ArialMT",
  ];
  return names.map((name) => {
    const lines = Array.from({ length: 16 }, (_, line) => `(Line ${line} of ${name}: sphinx of quartz) '`);
    return [
      `font ${name}`,
      {
        content: `BT /F 13 Tf 18 TL 20 380 Td ${lines.join(" ")} ET`,
        resources: `/Font<</F<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>>>`,
      },
    ];
  });
}

function drawings(): [string, SamplePage][] {
  const ramp2 = "/FunctionType 2/Domain[0 1]/C0[1 0 0]/C1[0 0 1]/N 1";
  const shading = (type: string) => ({
    content: "q 20 20 260 380 re W n /S sh Q",
    resources: `/Shading<</S<<${type}/ColorSpace/DeviceRGB/Function<<${ramp2}>>/Extend[true true]>>>>`,
  });
  const states = (entries: string): SamplePage => ({
    content: `${SCENE} /G gs 1 .8 0 rg 60 80 180 240 re f`,
    resources: `/ExtGState<</G<<${entries}>>>>`,
  });
  return [
    ["shapes", { content: SCENE }],
    [
      "dashes",
      { content: "8 w [20 10] 0 d 1 J 20 20 m 280 400 l S [] 0 d 2 j 30 380 m 150 200 l 270 380 l S" },
    ],
    [
      "curves",
      {
        content:
          "0 .4 .8 rg 150 400 m 300 400 300 20 150 20 c 0 20 0 400 150 400 c f* 1 g 150 200 50 60 re f",
      },
    ],
    ["even-odd clip", { content: "20 20 250 350 re 80 80 120 200 re W* n .8 0 .4 rg 0 0 298 420 re f" }],
    [
      "process inks",
      { content: "1 0 0 0 k 20 20 80 380 re f 0 1 0 0 k 110 20 80 380 re f 0 0 1 .2 k 200 20 80 380 re f" },
    ],
    ["axial shading", shading("/ShadingType 2/Coords[20 20 280 400]")],
    ["radial shading", shading("/ShadingType 3/Coords[150 210 10 150 210 160]")],
    ["half transparency", states("/ca .5")],
    ...["Multiply", "Screen", "Darken", "Difference", "Overlay"].map((mode): [string, SamplePage] => [
      `blend mode ${mode}`,
      states(`/BM/${mode}`),
    ]),
    [
      "text outlines",
      {
        content: "BT 1 Tr 2 w /F 60 Tf 20 200 Td (Outline) Tj ET",
        resources: "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>>>",
      },
    ],
    [
      "nested graphics states",
      { content: `${"q .9 0 0 .9 10 10 cm ".repeat(12)}${SCENE}${" Q".repeat(12)}` },
    ],
    [
      "inline image",
      {
        content:
          "q 200 0 0 200 50 100 cm BI /W 4 /H 4 /BPC 8 /CS /G /F /AHx ID 00408090 408090FF 8090FF00 90FF0040 > EI Q",
      },
    ],
  ];
}

function boxes(): [string, string][] {
  return [
    ["crop box", "/CropBox[20 20 200 300]"],
    ["crop box beyond the media box", "/CropBox[-50 100 900 900]"],
    ["rotation 90", "/Rotate 90"],
    ["rotation 180", "/Rotate 180"],
    ["rotation 270 with a crop box", "/Rotate 270/CropBox[20 20 200 300]"],
    ["user unit", "/UserUnit 2"],
  ];
}

function annotations(): [string, string, SampleObject?][] {
  const stamp = {
    dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]",
    data: "0 .6 .2 rg 0 0 10 10 re f",
  };
  return [
    ["stamp annotation", `/Subtype/Stamp/AP<</N ${FIRST} 0 R>>`, stamp],
    ["hidden annotation", `/Subtype/Stamp/F 2/AP<</N ${FIRST} 0 R>>`, stamp],
    ["link annotation", "/Subtype/Link/Border[0 0 0]"],
    ["square annotation without appearance", "/Subtype/Square/C[1 0 0]/IC[1 1 .6]/BS<</W 4>>"],
    ["highlight without appearance", "/Subtype/Highlight/C[1 1 0]/QuadPoints[40 300 240 300 40 200 240 200]"],
  ];
}

/** Samples that grow to the right and down. */
function ramp(channels: 1 | 3): number[] {
  const { width, height } = PICTURE;
  return Array.from({ length: width * height }, (_, place) => {
    const [x, y] = [place % width, Math.floor(place / width)];
    const grey = Math.round((x * 255) / width);
    return channels === 1 ? [grey] : [grey, Math.round((y * 255) / height), 120];
  }).flat();
}

function grey(data: Buffer): { dictionary: string; data: Buffer } {
  return { dictionary: imageOf("/ColorSpace/DeviceGray/BitsPerComponent 8"), data };
}

function imageOf(more: string): string {
  return `/Type/XObject/Subtype/Image/Width ${PICTURE.width}/Height ${PICTURE.height}${more}`;
}

async function images(): Promise<[string, { dictionary: string; data: Buffer }][]> {
  const pixels = Buffer.from(ramp(3));
  const picture = sharp(pixels, { raw: { ...PICTURE, channels: 3 } });
  const rgb = "/ColorSpace/DeviceRGB/BitsPerComponent 8";
  const jpeg = (options = {}) =>
    picture
      .clone()
      .jpeg({ quality: 92, ...options })
      .toBuffer();
  const bits = Buffer.from(
    Array.from({ length: 15 * PICTURE.height }, (_, index) => (index % 15 < 7 ? 0xf0 : 0xaa)),
  );
  const bilevel = await picture
    .clone()
    .greyscale()
    .threshold(128)
    .toColourspace("b-w")
    .tiff({ compression: "ccittfax4", bitdepth: 1 })
    .toBuffer();
  const cmyk = Buffer.from(ramp(3).flatMap((value, index) => (index % 3 === 2 ? [value, 0] : [value])));
  const convert = async (format: string) =>
    (await run(programs.convert, ["png:-", `${format}:-`], { input: await picture.clone().png().toBuffer() }))
      .stdout;
  const [jp2, j2k] = [await convert("jp2"), await convert("j2k")];
  const palette = Buffer.from(
    Array.from({ length: 256 }, (_, index) => [index, 255 - index, 60]).flat(),
  ).toString("hex");
  const masks = "/ColorSpace/DeviceGray/BitsPerComponent 8/Mask[0 100]";
  return [
    ["image, raw", { dictionary: imageOf(rgb), data: pixels }],
    ["image, Flate", { dictionary: imageOf(`${rgb}/Filter/FlateDecode`), data: deflateSync(pixels) }],
    [
      "image, hexadecimal",
      {
        dictionary: imageOf(`${rgb}/Filter/ASCIIHexDecode`),
        data: Buffer.from(`${pixels.toString("hex")}>`),
      },
    ],
    ["image, run length", { dictionary: imageOf(`${rgb}/Filter/RunLengthDecode`), data: runs(pixels) }],
    ["image, grey", grey(Buffer.from(ramp(1)))],
    ["image, inverted", { dictionary: imageOf(`${rgb}/Decode[1 0 1 0 1 0]`), data: pixels }],
    ["image, 1 bit", { dictionary: imageOf("/ColorSpace/DeviceGray/BitsPerComponent 1"), data: bits }],
    ["image, stencil", { dictionary: imageOf("/ImageMask true"), data: bits }],
    [
      "image, palette",
      {
        dictionary: imageOf(`/ColorSpace[/Indexed/DeviceRGB 255<${palette}>]/BitsPerComponent 8`),
        data: Buffer.from(ramp(1)),
      },
    ],
    ["image, process inks", { dictionary: imageOf("/ColorSpace/DeviceCMYK/BitsPerComponent 8"), data: cmyk }],
    ["image, colour key", { dictionary: imageOf(masks), data: Buffer.from(ramp(1)) }],
    ["image, soft mask", { dictionary: imageOf(`${rgb}/SMask ${FIRST + 1} 0 R`), data: pixels }],
    ["image, JPEG", { dictionary: imageOf(`${rgb}/Filter/DCTDecode`), data: await jpeg() }],
    [
      "image, progressive JPEG",
      { dictionary: imageOf(`${rgb}/Filter/DCTDecode`), data: await jpeg({ progressive: true }) },
    ],
    [
      "image, JPEG in Flate",
      { dictionary: imageOf(`${rgb}/Filter[/FlateDecode/DCTDecode]`), data: deflateSync(await jpeg()) },
    ],
    [
      "image, JPEG of process inks",
      {
        dictionary: imageOf(
          "/ColorSpace/DeviceCMYK/BitsPerComponent 8/Filter/DCTDecode/Decode[1 0 1 0 1 0 1 0]",
        ),
        data: await picture.clone().toColourspace("cmyk").jpeg().toBuffer(),
      },
    ],
    ["image, JPEG 2000", { dictionary: imageOf("/Filter/JPXDecode"), data: jp2 }],
    [
      "image, JPEG 2000 codestream",
      { dictionary: imageOf("/ColorSpace/DeviceRGB/Filter/JPXDecode"), data: j2k },
    ],
    [
      "image, fax",
      {
        dictionary: imageOf(
          `/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns ${PICTURE.width}/Rows ${PICTURE.height}>>`,
        ),
        data: firstStrip(bilevel),
      },
    ],
  ];
}

/** Each byte as a run of one (ISO 32000-1, 7.4.5). */
function runs(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([...data].flatMap((byte) => [0, byte])), Buffer.of(128)]);
}

/** The data of a little-endian TIFF of one strip. */
function firstStrip(tiff: Buffer): Buffer {
  const directory = tiff.readUInt32LE(4);
  const tag = (wanted: number): number => {
    for (let index = 0; index < tiff.readUInt16LE(directory); index++) {
      const entry = directory + 2 + 12 * index;
      if (tiff.readUInt16LE(entry) !== wanted) continue;
      return tiff.readUInt16LE(entry + 2) === 3 ? tiff.readUInt16LE(entry + 8) : tiff.readUInt32LE(entry + 8);
    }
    throw new Error(`The TIFF has no tag ${wanted}`);
  };
  return tiff.subarray(tag(273), tag(273) + tag(279));
}
