import { exifBlock } from "../../../packages/imaging/test/exif-blocks.ts";
import { damages } from "./jpeg-damages.ts";
import { byImageMagick, bySharp } from "./jpeg-encoders.ts";
import { type Sample, sample } from "./sample.ts";
import { type JpegOptions, segment, writeJpeg } from "./write-jpeg.ts";

/** JPEGs of every coding that browsers show, with the segments and the damage that cameras and tools leave. */
export async function jpegSamples(): Promise<Sample[]> {
  return [
    ...codings(),
    ...segments(),
    ...orientations(),
    ...(await damages()),
    ...(await bySharp()),
    ...(await byImageMagick()),
  ];
}

const jpeg = (name: string, options: JpegOptions) => sample("jpeg", name, writeJpeg(options));

function codings(): Sample[] {
  const found: Sample[] = [];
  const samplings = {
    "4:4:4": [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
    "4:2:2": [
      [2, 1],
      [1, 1],
      [1, 1],
    ],
    "4:2:0": [
      [2, 2],
      [1, 1],
      [1, 1],
    ],
    "4:4:0": [
      [1, 2],
      [1, 1],
      [1, 1],
    ],
    "4:1:1": [
      [4, 1],
      [1, 1],
      [1, 1],
    ],
    "4:1:0": [
      [4, 2],
      [1, 1],
      [1, 1],
    ],
    "4:4:1": [
      [1, 4],
      [1, 1],
      [1, 1],
    ],
    "2x2,2x1,2x1": [
      [2, 2],
      [2, 1],
      [2, 1],
    ],
    "2x2,1x2,1x2": [
      [2, 2],
      [1, 2],
      [1, 2],
    ],
    "2x1,2x1,2x1": [
      [2, 1],
      [2, 1],
      [2, 1],
    ],
  } as const;
  for (const [name, sampling] of Object.entries(samplings)) {
    found.push(jpeg(name, { sampling }));
    found.push(jpeg(`${name} 67x45`, { sampling, width: 67, height: 45 }));
    found.push(jpeg(`${name} restarts`, { sampling, restart: 3, width: 67, height: 45 }));
    found.push(jpeg(`${name} separate scans`, { sampling, separateScans: true, width: 67, height: 45 }));
    found.push(
      jpeg(`${name} separate scans restarts`, {
        sampling,
        separateScans: true,
        restart: 5,
        width: 67,
        height: 45,
      }),
    );
    found.push(jpeg(`${name} 16-bit tables`, { sampling, wideTables: true }));
    found.push(jpeg(`${name} joined tables`, { sampling, joinedTables: true, frame: 0xc1, jfif: true }));
  }
  for (const [width, height] of [
    [1, 1],
    [8, 8],
    [9, 200],
    [255, 3],
    [16, 17],
  ] as const) {
    for (const space of ["grey", "ycc", "cmyk"] as const) {
      found.push(
        jpeg(`${space} ${width}x${height}`, {
          space,
          width,
          height,
          ...(space === "cmyk" ? { adobe: 0 } : {}),
        }),
      );
    }
  }
  const spaces: Record<string, JpegOptions> = {
    grey: { space: "grey" },
    "grey JFIF": { space: "grey", jfif: true },
    "grey 2x2": { space: "grey", sampling: [[2, 2]], width: 67 },
    "grey Adobe": { space: "grey", adobe: 0 },
    "RGB Adobe 0": { space: "rgb", adobe: 0 },
    "RGB by component letters": { space: "rgb", ids: [82, 71, 66] },
    "YCbCr Adobe 1": { adobe: 1 },
    "YCbCr without markers": {},
    "YCbCr components 0 1 2": { ids: [0, 1, 2] },
    "YCbCr components 34 35 36": { ids: [34, 35, 36], jfif: true },
    "CMYK Adobe 0": { space: "cmyk", adobe: 0 },
    "YCCK Adobe 2": { space: "ycck", adobe: 2 },
    "YCCK Adobe 2 subsampled": {
      space: "ycck",
      adobe: 2,
      sampling: [
        [2, 2],
        [1, 1],
        [1, 1],
        [2, 2],
      ],
    },
    "CMYK without Adobe": { space: "cmyk" },
    "JFIF and Adobe 1": { jfif: true, adobe: 1 },
    "JFIF and Adobe 0": { jfif: true, adobe: 0, space: "rgb" },
  };
  for (const [name, options] of Object.entries(spaces)) {
    found.push(jpeg(name, options), jpeg(`${name} large`, { ...options, width: 200, height: 150 }));
  }
  for (const restart of [1, 2, 7, 8, 1000]) found.push(jpeg(`restart ${restart}`, { restart, jfif: true }));
  return found;
}

const text = (value: string) => Buffer.from(value, "latin1");

function segments(): Sample[] {
  const app = (number: number, data: Buffer | readonly number[]) => segment(0xe0 + number, data);
  const sets: Record<string, Buffer[]> = {
    comment: [segment(0xfe, text("A comment"))],
    "three comments": ["one", "two", "three"].map((comment) => segment(0xfe, text(comment))),
    "an empty comment": [segment(0xfe, [])],
    XMP: [app(1, text('http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'))],
    IPTC: [app(13, text("Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\0"))],
    "an empty application segment": [app(3, [])],
    "a huge application segment": [app(2, Buffer.alloc(65_000, 3))],
    "twenty huge application segments": Array.from({ length: 20 }, () => app(7, Buffer.alloc(65_000, 3))),
    "JFIF of a short length": [app(0, text("JFIF\0"))],
    "JFIF of another version": [app(0, text("JFIF\0\x05\x09\x07\xff\xff\0\0\0\0"))],
    "JFIF with a thumbnail": [
      app(0, Buffer.concat([text("JFIF\0\x01\x02\0\0\x01\0\x01\x02\x02"), Buffer.alloc(12, 200)])),
    ],
    "JFIF with a cut thumbnail": [app(0, text("JFIF\0\x01\x02\0\0\x01\0\x01\x09\x09"))],
    JFXX: [app(0, text("JFIF\0\x01\x01\0\0\x01\0\x01\0\0")), app(0, text("JFXX\0\x10\xff\xd8\xff\xd9"))],
    "EXIF of nothing": [app(1, text("Exif\0\0"))],
    "EXIF damaged": [app(1, text("Exif\0\0MM\0*\0\0\xff\xff"))],
    "EXIF of a wrong byte order": [app(1, text("Exif\0\0XX\0*\0\0\0\x08\0\0"))],
    "EXIF and JFIF": [
      app(1, Buffer.concat([text("Exif\0\0"), exifBlock(1)])),
      app(0, text("JFIF\0\x01\x01\0\0\x01\0\x01\0\0")),
    ],
    "a profile out of order": [
      app(2, text("ICC_PROFILE\0\x02\x02xx")),
      app(2, text("ICC_PROFILE\0\x01\x02xx")),
    ],
    "a damaged profile": [app(2, Buffer.concat([text("ICC_PROFILE\0\x01\x01"), Buffer.alloc(200, 1)]))],
    "a multi-picture index": [app(2, text("MPF\0MM\0*\0\0\0\x08\0\0"))],
    Ducky: [app(12, text("Ducky\0\x01\0\x04\0\0\0\x3c\0\0"))],
    "Adobe cut short": [app(14, text("Adobe\0"))],
    "a DRI of zero": [segment(0xdd, [0, 0])],
    "quantisation tables not used": [
      segment(0xdb, [1, ...Array(64).fill(9)]),
      segment(0xdb, [2, ...Array(64).fill(9)]),
    ],
    "an unknown reserved segment": [segment(0xf0, [1, 2, 3])],
  };
  return Object.entries(sets).map(([name, segments]) => jpeg(name, { segments }));
}

function orientations(): Sample[] {
  const found: Sample[] = [];
  for (let orientation = 0; orientation <= 9; orientation++) {
    for (const byteOrder of ["MM", "II"] as const) {
      const exif = segment(0xe1, Buffer.concat([text("Exif\0\0"), exifBlock(orientation, byteOrder)]));
      found.push(
        jpeg(`EXIF orientation ${orientation} ${byteOrder}`, { segments: [exif], jfif: byteOrder === "MM" }),
      );
    }
  }
  const exif = (orientation: number) =>
    segment(0xe1, Buffer.concat([text("Exif\0\0"), exifBlock(orientation)]));
  found.push(jpeg("EXIF orientation after a comment", { segments: [segment(0xfe, text("first")), exif(6)] }));
  found.push(jpeg("EXIF orientation twice", { segments: [exif(6), exif(3)] }));
  const long = segment(0xe1, Buffer.concat([text("Exif\0\0"), exifBlock(6, "MM", 4)]));
  found.push(jpeg("EXIF orientation as a long", { segments: [long] }));
  return found;
}
