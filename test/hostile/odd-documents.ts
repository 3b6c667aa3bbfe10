import { type Sample, sample } from "../fidelity/samples/sample.ts";
import { pdfDamages } from "../support/damaged-pdfs.ts";
import { pdfOfObjects, QUARTERS, samplePdf } from "../support/pdf-samples.ts";
import { resource, type SamplePsd, samplePsd } from "../support/psd-samples.ts";

/** SVGs, PSDs and PDFs with sizes, counts, modes and structures at and beyond their bounds. */
export function oddDocuments(): Sample[] {
  return [...svgs(), ...psds(), ...psdHeaders(), ...pdfPages(), ...pdfs()];
}

function svgs(): Sample[] {
  const content = '<rect width="30" height="20" fill="#c33"/>';
  const svg = (attributes: string, inner = content) =>
    `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inner}</svg>`;
  const lengths = [
    "0",
    "-5",
    "NaN",
    "1e9",
    "1e-9",
    "1e400",
    "3em",
    "50%",
    "2in",
    "2furlongs",
    "",
    "0.4",
    "65536",
  ];
  const boxes = [
    "0 0 0 0",
    "0 0 -5 5",
    "NaN 0 5 5",
    "0 0 1e9 1",
    "1e30 1e30 1e-30 1e-30",
    "0 0 5",
    "-1e9 -1e9 2e9 2e9",
    "0,0,5,5,5",
  ];
  const drawings: Record<string, string> = {
    ...Object.fromEntries(lengths.map((length) => [`width ${length}`, svg(`width="${length}" height="20"`)])),
    ...Object.fromEntries(
      lengths
        .slice(0, 6)
        .map((length) => [`both sides ${length}`, svg(`width="${length}" height="${length}"`)]),
    ),
    ...Object.fromEntries(boxes.map((box) => [`box ${box}`, svg(`viewBox="${box}"`)])),
    ...Object.fromEntries(
      boxes.map((box) => [`sized box ${box}`, svg(`width="30" height="20" viewBox="${box}"`)]),
    ),
    empty: svg('width="30" height="20"', ""),
    "without a size": svg(""),
    "without anything": svg("", ""),
    "without a namespace": `<svg width="9" height="9">${content}</svg>`,
    "not closed": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect',
    "another root": "<html><svg/></html>",
    "no XML": "hello",
    "only a declaration": '<?xml version="1.0"?>',
    "false encoding": `<?xml version="1.0" encoding="utf-99"?>${svg('width="9" height="9"')}`,
    "unknown entity": svg('width="9" height="9"', "<text>&unknown;</text>"),
    "text alone": svg("", "<text>only text</text>"),
    "far away": svg("", '<rect x="1e9" y="-1e9" width="1" height="1"/>'),
    "aspect ratio": svg('width="30" height="20" viewBox="0 0 9 9" preserveAspectRatio="sideways"'),
    "uses itself": svg('width="9" height="9"', '<g id="a"><use href="#a"/></g>'),
    "picture of no type": svg('width="9" height="9"', '<image width="5" height="5" href="data:,x"/>'),
    "filter of no size": svg(
      'width="9" height="9"',
      '<filter id="f" width="0"><feGaussianBlur stdDeviation="1e9"/></filter><rect width="9" height="9" filter="url(#f)"/>',
    ),
  };
  return Object.entries(drawings).map(([name, text]) => sample("svg", name, Buffer.from(text)));
}

const PSD_SIZE = { width: 12, height: 8 };
type Mode = NonNullable<SamplePsd["mode"]>;

function channels(count: number, depth: number): number[][] {
  const most = depth === 32 ? 1 : 2 ** Math.min(depth, 16) - 1;
  const pixels = Array.from({ length: PSD_SIZE.width * PSD_SIZE.height }, (_, place) => (place % 2) * most);
  return Array.from({ length: count }, () => pixels);
}

function psds(): Sample[] {
  const modes: readonly (readonly [Mode, readonly (1 | 8 | 16 | 32)[]])[] = [
    ["bitmap", [1, 8]],
    ["greyscale", [1, 8, 16, 32]],
    ["indexed", [8, 16]],
    ["rgb", [1, 8, 16, 32]],
    ["cmyk", [8, 16, 32]],
    ["multichannel", [8, 16]],
    ["duotone", [8, 16]],
    ["lab", [8, 16, 32]],
  ];
  const compressions = ["raw", "packed", "zip", "predicted"] as const;
  const counts = [0, 1, 2, 4, 5, 56];
  return modes.flatMap(([mode, depths], row) =>
    depths.flatMap((depth, column) =>
      counts.map((count, index) => {
        const compression = compressions[(row + column + index) % compressions.length] ?? "raw";
        const palette = mode === "indexed" ? { palette: Buffer.alloc(768, 77) } : {};
        const bytes = samplePsd({
          ...PSD_SIZE,
          mode,
          depth,
          compression,
          channels: channels(count, depth),
          ...palette,
        });
        return sample("psd", `${mode} of ${count} channels and ${depth} bits, ${compression}`, bytes);
      }),
    ),
  );
}

function psdHeaders(): Sample[] {
  const whole = samplePsd({ ...PSD_SIZE, channels: channels(3, 8) });
  const changed = (name: string, at: number, ...values: number[]) => {
    const copy = Buffer.from(whole);
    copy.set(values, at);
    return sample("psd", name, copy);
  };
  const described = (name: string, ...resources: Buffer[]) =>
    sample("psd", name, samplePsd({ ...PSD_SIZE, channels: channels(3, 8), resources }));
  return [
    changed("version 0", 5, 0),
    changed("version 3", 5, 3),
    changed("height 0", 14, 0, 0, 0, 0),
    changed("width 0", 18, 0, 0, 0, 0),
    changed("width 300000", 18, 0, 4, 0x93, 0xe0),
    changed("largest sides", 14, 255, 255, 255, 255, 255, 255, 255, 255),
    changed("depth 7", 23, 7),
    changed("mode 5", 25, 5),
    changed("mode 99", 25, 99),
    changed("compression 9", whole.length - 49, 9),
    described("resolution 0", resource(1005, Buffer.alloc(16))),
    described("largest resolution", resource(1005, Buffer.alloc(16, 255))),
    described("profile of garbage", resource(1039, Buffer.alloc(200, 7))),
    described("transparent index 65535", resource(1047, Buffer.alloc(2, 255))),
    sample(
      "psd",
      "indexed without a palette",
      samplePsd({ ...PSD_SIZE, mode: "indexed", channels: channels(1, 8) }),
    ),
    sample(
      "psd",
      "largest count of layers",
      samplePsd({ ...PSD_SIZE, channels: channels(3, 8), layers: 32_767 }),
    ),
    ...[4, 26, 30, 40, whole.length - 20].map((length) =>
      sample("psd", `cut at ${length}`, whole.subarray(0, length)),
    ),
  ];
}

function pdfPages(): Sample[] {
  const page = (name: string, entries: string) =>
    sample(
      "pdf",
      `page with ${name}`,
      pdfOfObjects([
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        `<</Type/Page/Parent 2 0 R/Contents 4 0 R ${entries}>>`,
        { data: QUARTERS },
      ]),
    );
  const boxes = [
    "0 0 0 0",
    "0 0 -50 -50",
    "50 50 0 0",
    "0 0 1e9 1e9",
    "0 0 99999999999999999999 5",
    "0 0 0.001 0.001",
    "0 0 50",
    "/a /b /c /d",
    "-1e9 -1e9 -999999990 -999999990",
    "0 0 14400 1",
  ];
  return [
    page("no box", ""),
    ...boxes.map((box) => page(`box ${box}`, `/MediaBox[${box}]`)),
    ...boxes.slice(0, 4).map((box) => page(`crop box ${box}`, `/MediaBox[0 0 60 40]/CropBox[${box}]`)),
    ...["45", "-90", "90", "1000000000", "1e99", "/x"].map((turn) =>
      page(`turn ${turn}`, `/MediaBox[0 0 60 40]/Rotate ${turn}`),
    ),
    ...["0", "-1", "0.0001", "1000000", "/x"].map((unit) =>
      page(`unit ${unit}`, `/MediaBox[0 0 60 40]/UserUnit ${unit}`),
    ),
  ];
}

function pdfs(): Sample[] {
  const whole = samplePdf([{ content: QUARTERS }]);
  return [
    ...[...pdfDamages].map(([name, damage]) => sample("pdf", name, damage(whole))),
    ...[4, 9, 60, whole.length >> 1].map((length) =>
      sample("pdf", `cut at ${length}`, whole.subarray(0, length)),
    ),
  ];
}
