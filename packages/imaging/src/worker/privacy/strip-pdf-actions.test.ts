import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { QUARTERS, type SampleObject, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import {
  annotation,
  appearance,
  CANARY,
  clean,
  document,
  drawn,
  FIRST,
  file,
  JAVASCRIPT,
  link,
  specification,
  strip,
} from "../../../test/acting-pdfs.ts";
import type { StripPdfOptions } from "./strip-pdf.ts";

describe("stripPdf removes actions:", () => {
  test.each([
    ["JavaScript", JAVASCRIPT],
    ["JavaScript with an escaped name", `<</#53/J#61vaScript/JS(${CANARY})>>`],
    ["Launch", `<</S/Launch/F(${CANARY})/Win<</F(cmd.exe)>>>>`],
    ["SubmitForm", `<</S/SubmitForm/F<</FS/URL/F(http://e.test/?${CANARY})>>>>`],
    ["ImportData", `<</S/ImportData/F(${CANARY})>>`],
    ["ResetForm", `<</S/ResetForm/Fields[(${CANARY})]>>`],
    ["GoToR", `<</S/GoToR/F(${CANARY})/D[0/Fit]>>`],
    ["GoToE", `<</S/GoToE/F(${CANARY})/T<</R/C>>>>`],
    ["Hide", `<</S/Hide/T(${CANARY})>>`],
    ["Rendition", `<</S/Rendition/OP 0/JS(${CANARY})>>`],
    ["Movie", `<</S/Movie/T(${CANARY})>>`],
    ["an action that no reader has yet", `<</S/Format/Disk(${CANARY})>>`],
    ["an action without a type", `<</JS(${CANARY})/URI(javascript:1)>>`],
    ["a command of a program by its name", `<</S/Named/N/Print/X(${CANARY})>>`],
    ["a script after a link", `<</S/URI/URI(https://e.test/)/Next ${JAVASCRIPT}>>`],
    ["scripts after a jump", `<</S/GoTo/D[3 0 R/Fit]/Next[<</S/GoTo/D(a)/Next ${JAVASCRIPT}>>]>>`],
  ])("%s", async (_, action) => {
    await clean(document({ catalogue: `/OpenAction ${action}` }));
    await clean(document({ annotations: [link(action)] }));
    const objects = [action];
    await clean(document({ annotations: [link(`${FIRST} 0 R`)], objects }));
    await clean(document({ catalogue: `/OpenAction ${FIRST} 0 R`, objects }));
    await clean(document({ entries: `/AA<</O ${FIRST} 0 R>>`, objects }));
    await clean(
      document({ annotations: [link(`<</S/GoTo/D(a)/Next ${FIRST} 0 R>>`)], objects: [`[${action}]`] }),
    );
    const item = `<</Title(Chapter)/Parent ${FIRST} 0 R/A ${action}>>`;
    const outlines = [`<</First ${FIRST + 1} 0 R/Last ${FIRST + 1} 0 R/Count 1>>`, item];
    const stripped = await clean(document({ catalogue: `/Outlines ${FIRST} 0 R`, objects: outlines }));
    expect(stripped.includes("(Chapter)")).toBe(true);
  });

  test.each([
    ["javascript:", `(javascript:${CANARY})`],
    ["javascript: in octal digits", `(\\152\\141vascript:${CANARY})`],
    ["javascript: in hexadecimal digits", `<${Buffer.from("javascript:1").toString("hex")}>/X(${CANARY})`],
    ["javascript: after a line end", `(\\\njavascript:${CANARY})`],
    ["file:", `(file:///etc/${CANARY})`],
    ["data:", `(data:text/html,${CANARY})`],
    ["a share", `(\\\\\\\\e.test\\\\${CANARY})`],
    ["a path", `(../${CANARY}.exe)`],
    ["http: in UTF-16, after javascript:", `(\xfe\xff\0j\0:\0h\0t\0t\0p\0:)/X(${CANARY})`],
  ])("a link to %s", async (_, address) => {
    await clean(document({ annotations: [link(`<</S/URI/URI ${address}>>`)] }));
    const objects = [`<</S/URI/URI ${address}>>`];
    await clean(document({ annotations: [link(`${FIRST} 0 R`)], objects }));
  });

  test("a link whose address is another object", async () => {
    const objects = [`(javascript:${CANARY})`];
    await clean(document({ annotations: [link(`<</S/URI/URI ${FIRST} 0 R>>`)], objects }));
  });

  test.each([
    ["the document", { catalogue: `/AA<</WC ${JAVASCRIPT}/DP ${JAVASCRIPT}>>` }],
    ["the document's Names", { catalogue: `/Names<</JavaScript<</Names[(a)${JAVASCRIPT}]>>>>` }],
    [
      "Names elsewhere",
      { catalogue: `/Names ${FIRST} 0 R`, objects: [`<</JavaScript<</Names[(a)${JAVASCRIPT}]>>>>`] },
    ],
    ["a page", { entries: `/AA<</O ${JAVASCRIPT}/C ${JAVASCRIPT}>>` }],
    ["a slide show", { entries: `/PresSteps<</NA ${JAVASCRIPT}>>` }],
    [
      "an annotation",
      { annotations: [annotation("Square", `/AA<</E ${JAVASCRIPT}>>`)], objects: [appearance] },
    ],
    ["a requirement", { catalogue: `/Requirements[<</S/EnableJavaScripts/RH<</S/JS/Script(${CANARY})>>>>]` }],
    ["a base of addresses", { catalogue: `/URI<</Base(file://${CANARY})>>` }],
    ["nothing any more", { objects: [JAVASCRIPT] }],
    ["nothing any more, in a stream", { objects: [{ dictionary: `/X ${JAVASCRIPT}`, data: "" }] }],
  ])("of %s", async (_, parts) => {
    await clean(document(parts));
  });

  test("of form fields, which keep their values and appearances, and of XFA", async () => {
    const objects: SampleObject[] = [
      appearance,
      `<</FT/Tx/T(name)/V(A value)/DA(/F 9 Tf)/AA<</K ${JAVASCRIPT}/C ${JAVASCRIPT}>>/Kids[${FIRST + 2} 0 R]>>`,
      annotation("Widget", `/Parent ${FIRST + 1} 0 R/AA<</Fo ${JAVASCRIPT}>>/A ${JAVASCRIPT}/MK<</BG[1]>>`),
      { data: deflateSync(`<script>${CANARY}</script>`), dictionary: "/Filter/FlateDecode" },
    ];
    const form = `/AcroForm<</Fields[${FIRST + 1} 0 R]/XFA[(template)${FIRST + 3} 0 R]/DA(/F 9 Tf)>>`;
    const pdf = document({ annotations: [`${FIRST + 2} 0 R`], catalogue: form, objects });
    const stripped = await clean(pdf);
    expect(stripped.toString("latin1")).toMatch(/\/V\(A value\).*\/MK<<\/BG\[1\]>>/s);
  });
});

describe("stripPdf removes files:", () => {
  const objects = [appearance, specification(FIRST + 2), file];
  const untyped = [appearance, specification(FIRST + 2), { data: `MZ ${CANARY}` }];
  test.each([
    ["attached to the document", { catalogue: `/Names<</EmbeddedFiles<</Names[(a)${FIRST + 1} 0 R]>>>>` }],
    [
      "attached to the page",
      { annotations: [annotation("FileAttachment", `/FS ${FIRST + 1} 0 R/Name/PushPin`)] },
    ],
    ["associated with the document", { catalogue: `/AF[${FIRST + 1} 0 R]` }],
    ["associated with the page", { entries: `/AF ${FIRST + 1} 0 R` }],
    ["of a portfolio", { catalogue: `/Collection<</D(a)/X(${CANARY})>>/AF[${FIRST + 1} 0 R]` }],
    [
      "of a screen",
      { annotations: [annotation("Screen", `/A<</S/Rendition/R<</C<</D ${FIRST + 1} 0 R>>>>>>`)] },
    ],
    [
      "of rich media",
      {
        annotations: [annotation("RichMedia", `/RichMediaContent<</Assets<</Names[(a)${FIRST + 1} 0 R]>>>>`)],
      },
    ],
    [
      "that only the structure refers to",
      { catalogue: `/StructTreeRoot<</K<</S/Figure/P 1 0 R/AF[${FIRST + 1} 0 R]>>>>` },
    ],
  ])("%s", async (_, parts) => {
    await clean(document({ ...parts, objects }));
    await clean(document({ ...parts, objects: untyped }));
  });

  test("three-dimensional and sounding annotations, which keep their appearance", async () => {
    const script = { data: CANARY };
    const scene = {
      dictionary: `/Type/3D/Subtype/U3D/OnInstantiate ${FIRST + 2} 0 R`,
      data: `U3D ${CANARY}`,
    };
    const annotations = [
      annotation("3D", `/3DD ${FIRST + 1} 0 R`),
      annotation("Sound", `/Sound ${FIRST + 2} 0 R`),
    ];
    await clean(document({ annotations, objects: [appearance, scene, script] }));
  });

  test("data of streams outside the document", async () => {
    const dictionary = `/Subtype/Form/BBox[0 0 9 9]/Ref<</F(${CANARY})/Page 0>>/OPI<</2.0<</F(${CANARY})>>>>/F(${CANARY})`;
    await clean(document({ objects: [{ dictionary, data: "" }] }));
  });
});

describe("stripPdf keeps", () => {
  /** The text of a stripped PDF, which looks as it did. */
  async function kept(pdf: Buffer): Promise<string> {
    const stripped = await strip(pdf);
    expect((await drawn(stripped)).equals(await drawn(pdf))).toBe(true);
    return stripped.toString("latin1");
  }
  const addresses = [
    ...["(https://e.test/)", "(HTTP://e.test)", "(mailto:a@e.test)", "(www.e.test)"],
    "<68747470733A2F2F652E74657374>",
  ];
  const names = ["NextPage", "PrevPage", "FirstPage", "LastPage"];
  test.each<[string, string[], string[]]>([
    [
      "links to web and mail addresses",
      addresses.map((to) => link(`<</S/URI/URI ${to}>>`)),
      addresses.map((to) => `/S/URI/URI${to}`),
    ],
    [
      "jumps within the document",
      [link("<</S/GoTo/D[3 0 R/Fit]>>"), "<</Subtype/Link/Rect[0 0 9 9]/Dest(a)>>"],
      ["/D[2 0 R/Fit]/S/GoTo", "/Dest(a)", "/OpenAction[2 0 R/Fit]"],
    ],
    [
      "jumps to other pages by name",
      names.map((name) => link(`<</S/Named/N/${name}>>`)),
      names.map((name) => `/N/${name}/S/Named`),
    ],
    [
      "switches of layers",
      [link(`<</S/SetOCGState/State[/Toggle ${FIRST} 0 R]>>`)],
      ["/S/SetOCGState/State[/Toggle", "/Name(Layer)/Type/OCG"],
    ],
    [
      "an allowed action after another",
      [link("<</S/GoTo/D(a)/Next[<</S/URI/URI(http://e.test)>>]>>")],
      ["/Next[<</S/URI/URI(http://e.test)>>]"],
    ],
  ])("%s", async (_, annotations, parts) => {
    const objects = ["<</Type/OCG/Name(Layer)>>"];
    const text = await kept(document({ annotations, objects, catalogue: "/OpenAction[3 0 R/Fit]" }));
    for (const part of parts) expect(text).toContain(part);
  });

  test("names that mean something else in other places", async () => {
    const glyph = { data: "1000 0 d0 0 0 750 750 re f" };
    const font = `<</Type/Font/Subtype/Type3/FontBBox[0 0 750 750]/FontMatrix[.01 0 0 .01 0 0]/CharProcs<</AA ${FIRST} 0 R/JS ${FIRST} 0 R>>/Encoding<</Differences[97/AA]>>/FirstChar 97/LastChar 97/Widths[1000]>>`;
    const tree = `<</K[<</S/JavaScript/P 1 0 R/A<</O/Layout/Placement/Block>>>><</Type/StructElem/S/Sound/P 1 0 R>>]>>`;
    const names = ["AA", "JS", "A", "EF", "AF", "XFA", "Metadata"];
    const fonts = names.map((name) => `/${name} ${FIRST + 1} 0 R`).join("");
    const pdf = samplePdf(
      [{ content: `${QUARTERS} BT /A 1 Tf 5 5 Td (a) Tj ET`, resources: `/Font<<${fonts}>>` }],
      [glyph, font, tree],
      { catalogue: `/StructTreeRoot ${FIRST + 2} 0 R/Dests<</AA[3 0 R/Fit]/OpenAction[3 0 R/Fit]>>` },
    );
    const text = await kept(pdf);
    expect(text).toMatch(/\/Font<<\/A .*\/AA .*\/AF .*\/EF .*\/JS .*\/Metadata .*\/XFA /);
    for (const part of ["/CharProcs<</AA", "/S/JavaScript", "/S/Sound", "/Dests<</AA[", "/OpenAction["]) {
      expect(text).toContain(part);
    }
  });

  test("actions and files with keepPdfActions, and metadata with keepMetadata", async () => {
    const pdf = samplePdf([{ content: QUARTERS }], ["<</Author(An author)>>", JAVASCRIPT], {
      catalogue: `/OpenAction ${FIRST + 1} 0 R`,
      trailer: `/Info ${FIRST} 0 R`,
    });
    const kept = async (options: StripPdfOptions) => {
      const text = (await strip(pdf, options)).toString("latin1");
      return { author: text.includes("An author"), script: text.includes(CANARY) };
    };
    expect(await kept({})).toEqual({ author: false, script: false });
    expect(await kept({ keepPdfActions: true })).toEqual({ author: false, script: true });
    expect(await kept({ keepMetadata: true })).toEqual({ author: true, script: false });
  });
});
