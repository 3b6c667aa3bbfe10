import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { isHidden, readLayerState } from "../packages/imaging/src/worker/pdf/layers.ts";
import { PdfObjects, resavePdf } from "../packages/imaging/src/worker/privacy/pdf/saved-pdf.ts";
import { firstObjectOf, type SampleObject, samplePdf } from "./support/pdf-samples.ts";
import { programs, run } from "./support/programs.ts";

const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
afterAll(() => renderer.close());

/** The first layer; the second one has the same name. */
const A = firstObjectOf(2);
const B = A + 1;
const MORE = A + 2;
const RED = "1 0 0 rg 5 5 20 20 re f";
const GREEN = "0 1 0 rg 30 5 20 20 re f";
const FORM = "/Type/XObject/Subtype/Form/BBox[0 0 60 40]";

interface Sample {
  /** Entries of `OCProperties`' `D`. */
  state?: string;
  /** What is at the property `L`. @default the first layer */
  at?: string;
  content?: string;
  layer?: string;
  objects?: SampleObject[];
  resources?: string;
  entries?: string;
  more?: string;
}

/** Two pages with a green rectangle, and a red one that the sample may hide. */
function sample({
  state = "",
  at = `${A} 0 R`,
  content = `/OC /L BDC ${RED} EMC`,
  layer = "",
  ...rest
}: Sample): Buffer {
  const { objects = [], resources = "", entries = "", more = "" } = rest;
  const page = { content: `${GREEN} ${content}`, resources: `/Properties<</L ${at}>>${resources}`, entries };
  const layers = [`<</Type/OCG/Name(same)${layer}>>`, "<</Type/OCG/Name(same)>>"];
  const catalogue = `/OCProperties<</OCGs[${A} 0 R ${B} 0 R]/D<<${state}>>${more}>>`;
  return samplePdf([page, page], [...layers, ...objects], { catalogue });
}

const OFF = `/OFF[${A} 0 R]`;
const annotation = (entries: string, subtype = "Square") =>
  `/Annots[<</Type/Annot/Subtype/${subtype}/Rect[5 5 25 25]/AP<</N ${MORE} 0 R>>${entries}>>]`;
const appearance = { dictionary: "/Type/XObject/Subtype/Form/BBox[5 5 25 25]", data: RED };
const noted = (entries: string, rest: Sample = {}): Sample => ({
  ...{ content: "", entries: annotation(entries), objects: [appearance], ...rest },
});
const member = (entries: string): string => `<</Type/OCMD ${entries}>>`;

test.each<[title: string, sample: Sample, isShown: boolean]>([
  ["content of a layer that is on", {}, true],
  ["content of a layer that is off", { state: OFF }, false],
  ["content of a layer whose namesake is off", { state: `/OFF[${B} 0 R]` }, true],
  ["content of a layer where all are off", { state: "/BaseState/OFF" }, false],
  ["content of the only layer that is on", { state: `/BaseState/OFF/ON[${A} 0 R]` }, true],
  [
    "content for another view",
    {
      layer: "/Usage<</View<</ViewState/OFF>>>>",
      state: `/AS[<</Event/View/Category[/View]/OCGs[${A} 0 R]>>]`,
    },
    false,
  ],
  ["content only for print", { layer: "/Usage<</Print<</PrintState/ON>>/View<</ViewState/OFF>>>>" }, false],
  ["content of a layer for design", { layer: "/Intent/Design", state: OFF }, true],
  ["a membership of layers that are off", { state: OFF, at: member(`/OCGs ${A} 0 R`) }, false],
  ["a membership of any of two layers", { state: OFF, at: member(`/OCGs[${A} 0 R ${B} 0 R]`) }, true],
  [
    "a membership of all of two layers",
    { state: OFF, at: member(`/P/AllOn/OCGs[${A} 0 R ${B} 0 R]`) },
    false,
  ],
  [
    "a membership of any layer that is off",
    { state: OFF, at: member(`/P/AnyOff/OCGs[${A} 0 R ${B} 0 R]`) },
    true,
  ],
  ["a membership of all layers off", { state: OFF, at: member(`/P/AllOff/OCGs[${A} 0 R ${B} 0 R]`) }, false],
  ["an expression", { state: OFF, at: member(`/OCGs ${B} 0 R/VE[/And ${B} 0 R[/Not ${A} 0 R]]`) }, true],
  [
    "an expression that is false",
    { state: OFF, at: member(`/OCGs ${B} 0 R/VE[/Or ${A} 0 R[/Not ${B} 0 R]]`) },
    false,
  ],
  [
    "a form",
    {
      state: OFF,
      content: "/F Do",
      resources: `/XObject<</F ${MORE} 0 R>>`,
      objects: [{ dictionary: `${FORM}/OC ${A} 0 R`, data: RED }],
    },
    false,
  ],
  [
    "content within a form",
    {
      ...{ state: OFF, content: "/F Do", resources: `/XObject<</F ${MORE} 0 R>>` },
      objects: [
        { dictionary: `${FORM}/Resources<</Properties<</M ${A} 0 R>>>>`, data: `/OC /M BDC ${RED} EMC` },
      ],
    },
    false,
  ],
  [
    "an image",
    {
      ...{ state: OFF, content: "q 20 0 0 20 5 5 cm /I Do Q", resources: `/XObject<</I ${MORE} 0 R>>` },
      objects: [
        {
          dictionary: `/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceRGB/BitsPerComponent 8/OC ${A} 0 R`,
          data: "\xff\0\0",
        },
      ],
    },
    false,
  ],
  ["an annotation", noted("/F 4"), true],
  ["a hidden annotation", noted("/F 2"), false],
  ["an annotation only for print", noted("/F 36"), false],
  ["an annotation that is not viewed until it is touched", noted("/F 288"), false],
  ["an annotation that is not printed", noted("/F 0"), true],
  ["a square marked invisible, which holds for unknown annotations only", noted("/F 1"), true],
  ["an annotation of a layer that is off", noted(`/OC ${A} 0 R`, { state: OFF }), false],
  ["an annotation of a layer that is on", noted(`/F 4/OC ${B} 0 R`, { state: OFF }), true],
  [
    "an annotation of a membership that is off",
    noted(`/F 4/OC${member(`/P/AllOn/OCGs[${A} 0 R ${B} 0 R]`)}`, { state: OFF }),
    false,
  ],
])("%s is shown, or hidden, in PNG", async (_, given, isShown) => {
  expect(await colours(await png(sample(given)))).toEqual({ isGreen: true, isRed: isShown });
});

test("PDF renditions show what PNG shows, in PDFium and Poppler", async () => {
  const samples: [Sample, boolean][] = [
    [{}, true],
    [{ state: OFF }, false],
    [noted("/F 2"), false],
    [noted(`/OC ${A} 0 R`, { state: OFF }), false],
    [noted(`/F 4/OC ${B} 0 R`, { state: OFF }), true],
  ];
  for (const [given, isRed] of samples) {
    const pdf = sample(given);
    for (const spec of [
      ...([{ page: 1 }, { page: 2, maxWidth: 90 }, { maxWidth: 180 }] as const),
      ...([
        { maxWidth: 100, maxHeight: 50, fit: "cover" },
        { maxWidth: 90, maxHeight: 90, fit: "pad" },
      ] as const),
    ]) {
      const { bytes } = await renderer.render({ bytes: pdf }, "application/pdf", { format: "pdf", ...spec });
      const shown = { pdfium: await colours(await png(bytes)), poppler: await colours(await poppler(bytes)) };
      const expected = { isGreen: true, isRed };
      expect(shown, JSON.stringify([given, spec])).toEqual({ pdfium: expected, poppler: expected });
    }
  }
});

test("an expression that doubles at each of 30 levels is decided in a few seconds of CPU time", async () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const next = `${level === 29 ? B : MORE + level + 3} 0 R`;
    return `[/And ${next} ${next}]`;
  });
  const memberships = [
    `/VE[/Or[/And ${A} 0 R ${MORE + 2} 0 R]${B} 0 R ${MORE + 2} 0 R]`,
    `/VE ${MORE + 2} 0 R`,
  ];
  const objects = [...memberships.map(member), ...levels];
  const pdf = await resavePdf(sample({ state: OFF, objects, resources: `/X[${MORE} 0 R ${MORE + 1} 0 R]` }));
  const parsed = new PdfObjects(pdf.bytes);
  const state = readLayerState(parsed);
  expect.assert(state !== null);
  expect(isHidden(state, parsed.get(MORE))).toBe(false);
  const begun = process.cpuUsage();
  isHidden(state, parsed.get(MORE + 1));
  expect(process.cpuUsage(begun).user / 1000).toBeLessThan(60_000);
});

async function png(pdf: Buffer): Promise<Buffer> {
  return (await renderer.render({ bytes: pdf }, "application/pdf", { format: "png" })).bytes;
}

async function poppler(pdf: Buffer): Promise<Buffer> {
  const { status, stdout, stderr } = await run(
    programs.pdftoppm,
    ["-r", "72", "-png", "-f", "1", "-l", "1"],
    { input: pdf },
  );
  expect(status, stderr).toBe(0);
  return stdout;
}

async function colours(picture: Buffer): Promise<{ isGreen: boolean; isRed: boolean }> {
  const pixels = await sharp(picture).removeAlpha().raw().toBuffer();
  const has = (colour: readonly number[]) => {
    for (let at = 0; at < pixels.length; at += 3) {
      if (colour.every((value, channel) => Math.abs((pixels[at + channel] ?? 0) - value) < 40)) return true;
    }
    return false;
  };
  return { isGreen: has([0, 255, 0]), isRed: has([255, 0, 0]) };
}
