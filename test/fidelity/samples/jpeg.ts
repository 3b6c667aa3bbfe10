import { type Sample, sample } from "./sample.ts";
import { type JpegOptions, segment, writeJpeg } from "./write-jpeg.ts";

const SIZE = { width: 24, height: 16 } as const;
const [SOF0, DQT, DHT, SOS] = [0xc0, 0xdb, 0xc4, 0xda] as const;

/** 64 × 48 pixels of two components. */
export const TWO_COMPONENTS = Buffer.from(
  "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAAOCAAwAEACAREAAhEA/8QAIgAAAAAPAAAAAAAAAAAAAAAAAAECAwQFBgcICQoLDA0O/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAoCAQACAAA/AKT9TvoyAIyAIyAIyAIyAIyAIyALUOjIRkARkARkARkARkARkARkAWodGQjIAjIAjIAjIAjIAjIAjIAtQ6MhGQBGQBGQBGQBGQBGQBGQBah0ZCMgCMgCMgCMgCMgCMgCMgC1DoyEZAEZAEZAEZAEZAEZAEZAH//Z",
  "base64",
);

const jpeg = (name: string, options: JpegOptions) => sample("jpeg", name, writeJpeg({ ...SIZE, ...options }));
const text = (value: string) => Buffer.from(value, "latin1");

/** JPEGs of any number of components, and with frames, tables and segments of wrong values. */
export function oddJpegs(): Sample[] {
  return [...components(), ...frames(), ...tables(), ...segments(), ...ends()];
}

function components(): Sample[] {
  const spaces = ["grey", "ycc", "rgb", "cmyk", "ycck"] as const;
  const adobe = [0, 1, 2] as const;
  return [
    sample("jpeg", "two components", TWO_COMPONENTS),
    ...spaces.flatMap((space) => [
      jpeg(`${space} without a marker`, { space, separateScans: true }),
      ...adobe.map((transform) => jpeg(`${space}, transform ${transform}`, { space, adobe: transform })),
    ]),
    ...[
      [
        [4, 4],
        [1, 1],
        [1, 1],
      ],
      [
        [1, 1],
        [2, 2],
        [2, 2],
      ],
      [
        [3, 1],
        [1, 1],
        [1, 1],
      ],
      [
        [1, 2],
        [2, 1],
        [1, 1],
      ],
    ].map((sampling) =>
      jpeg(`sampling ${sampling.join(" ")}`, {
        sampling: sampling.map(([across = 1, down = 1]) => [across, down] as const),
      }),
    ),
    jpeg("equal component numbers", { ids: [1, 1, 1] }),
    jpeg("component numbers R, G and B", { space: "rgb", ids: [82, 71, 66] }),
    jpeg("component number 0", { ids: [0, 1, 2] }),
  ];
}

/** A copy with changed bytes, counted from the marker. */
function changed(whole: Buffer, marker: number, values: Readonly<Record<number, number>>): Buffer {
  const copy = Buffer.from(whole);
  const at = whole.indexOf(Buffer.of(0xff, marker));
  for (const [offset, value] of Object.entries(values)) copy[at + Number(offset)] = value;
  return copy;
}

function frames(): Sample[] {
  const whole = writeJpeg(SIZE);
  const four = writeJpeg({ ...SIZE, space: "cmyk" });
  const put = (name: string, values: Readonly<Record<number, number>>, from = whole) =>
    sample("jpeg", `frame ${name}`, changed(from, SOF0, values));
  const markers = Array.from({ length: 16 }, (_, index) => SOF0 + index);
  return [
    ...markers.map((marker) => put(`0x${marker.toString(16)}`, { 1: marker })),
    ...[0, 2, 7, 10, 12, 16, 255].map((bits) => put(`of ${bits} bits`, { 4: bits })),
    put("of 12 bits, extended", { 1: 0xc1, 4: 12 }),
    put("height 0", { 5: 0, 6: 0 }),
    put("width 0", { 7: 0, 8: 0 }),
    put("height 65535", { 5: 255, 6: 255 }),
    put("65535 x 65535", { 5: 255, 6: 255, 7: 255, 8: 255 }),
    put("of larger width than its scan", { 8: 200 }),
    ...[0, 1, 2, 4, 5, 10, 11, 255].map((count) => put(`claims ${count} components`, { 9: count })),
    ...[1, 2, 3, 5].map((count) => put(`claims ${count} components of four`, { 9: count }, four)),
    ...[0x00, 0x01, 0x55, 0xff].map((sampling) => put(`sampling ${sampling}`, { 11: sampling })),
    put("with a missing table", { 12: 3 }),
  ];
}

function tables(): Sample[] {
  const whole = writeJpeg(SIZE);
  const scan = whole.indexOf(Buffer.of(0xff, SOS));
  const without = (marker: number, name: string) => {
    const at = whole.indexOf(Buffer.of(0xff, marker));
    const end = at + 2 + whole.readUInt16BE(at + 2);
    return sample("jpeg", name, Buffer.concat([whole.subarray(0, at), whole.subarray(end)]));
  };
  return [
    without(DQT, "without quantisation"),
    without(DHT, "without Huffman codes"),
    without(SOF0, "without a frame"),
    without(SOS, "without the header of its scan"),
    sample(
      "jpeg",
      "quantisation of zeros",
      changed(whole, DQT, Object.fromEntries(Array.from({ length: 64 }, (_, index) => [5 + index, 0]))),
    ),
    sample(
      "jpeg",
      "two frames",
      Buffer.concat([
        whole.subarray(0, scan),
        segment(
          SOF0,
          whole.subarray(whole.indexOf(Buffer.of(0xff, SOF0)) + 4, whole.indexOf(Buffer.of(0xff, SOF0)) + 19),
        ),
        whole.subarray(scan),
      ]),
    ),
    sample("jpeg", "scan of four components", changed(whole, SOS, { 4: 4 })),
    sample("jpeg", "scan of no component", changed(whole, SOS, { 4: 0 })),
    jpeg("restarts after each unit", { restart: 1 }),
    jpeg("restarts never reached", { restart: 65_535 }),
    jpeg("wide tables", { wideTables: true, joinedTables: true }),
  ];
}

function exif(orientation: number): Buffer {
  const block = text("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0");
  block.writeUInt16LE(orientation, 24);
  return segment(0xe1, block);
}

function segments(): Sample[] {
  const density = (unit: number, x: number, y: number) => {
    const payload = text(`JFIF\0\x01\x02${String.fromCharCode(unit)}\0\0\0\0\0\0`);
    payload.writeUInt16BE(x, 8);
    payload.writeUInt16BE(y, 10);
    return segment(0xe0, payload);
  };
  const icc = (payload: string) => segment(0xe2, text(`ICC_PROFILE\0${payload}`));
  const profile = Buffer.alloc(200);
  profile.writeUInt32BE(0xffff_ffff);
  profile.write("CMYKXYZ ", 16);
  profile.write("acsp", 36);
  const kinds: Record<string, Buffer[]> = {
    ...Object.fromEntries(
      [0, 1, 6, 8, 9, 255, 65_535].map((value) => [`orientation ${value}`, [exif(value)]]),
    ),
    "EXIF cut": [exif(6).subarray(0, 12)],
    "density 0": [density(1, 0, 0)],
    "density 65535": [density(1, 65_535, 65_535)],
    "density of unit 3": [density(3, 1, 65_535)],
    "empty profile": [icc("\x01\x01")],
    "profile of a false length": [icc(`\x01\x01${profile.toString("latin1")}`)],
    "profile 2 of 1": [icc("\x02\x01profile")],
    "profile 0 of 0": [icc("\0\0profile")],
    "second profile missing": [icc("\x01\x02profile")],
    "restart interval too short": [segment(0xdd, [1])],
    "segment of length 0": [Buffer.of(0xff, 0xe5, 0, 0)],
    "list of no pictures": [segment(0xe2, text("MPF\0MM\0*\0\0\0\x08\0\0"))],
    "list of four billion pictures": [
      segment(0xe2, text("MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x02\0\x07\xff\xff\xff\xff\0\0\0\x12")),
    ],
    "gain map without a map": [segment(0xe2, text("urn:iso:std:iso:ts:21496:-1\0\0\0\0\0"))],
  };
  return Object.entries(kinds).map(([name, before]) => jpeg(name, { segments: before }));
}

function ends(): Sample[] {
  const whole = writeJpeg(SIZE);
  const lines = segment(0xdc, [0, 16]);
  const scan = whole.indexOf(Buffer.of(0xff, SOS));
  const put = (name: string, bytes: Buffer) => sample("jpeg", name, bytes);
  return [
    put(
      "lines defined after the scan",
      Buffer.concat([changed(whole, SOF0, { 5: 0, 6: 0 }).subarray(0, -2), lines, whole.subarray(-2)]),
    ),
    put("only a start", whole.subarray(0, 2)),
    put("start and end", Buffer.of(0xff, 0xd8, 0xff, 0xd9)),
    put("cut before its scan", whole.subarray(0, scan)),
    put("cut in the header of its scan", whole.subarray(0, scan + 6)),
    put("cut in its scan", whole.subarray(0, scan + 40)),
    put("empty scan", Buffer.concat([whole.subarray(0, scan + 14), whole.subarray(-2)])),
    put(
      "zeros for its scan",
      Buffer.concat([whole.subarray(0, scan + 14), Buffer.alloc(300), whole.subarray(-2)]),
    ),
    put(
      "markers for its scan",
      Buffer.concat([whole.subarray(0, scan + 14), Buffer.alloc(300, 0xff), whole.subarray(-2)]),
    ),
  ];
}
