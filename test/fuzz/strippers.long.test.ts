import { isServiceError } from "@outrigger/core";
import type { OriginalType } from "@outrigger/core/images";
import { expect, test } from "vitest";
import { admit } from "../../packages/imaging/src/worker/admit.ts";
import { repairPdf } from "../../packages/imaging/src/worker/pdf/repair-pdf.ts";
import { stripMetadata } from "../../packages/imaging/src/worker/privacy/strip-metadata.ts";
import { readLayerBlocks } from "../../packages/imaging/src/worker/psd/layer-blocks.ts";
import { readPsdSections } from "../../packages/imaging/src/worker/psd/psd-header.ts";
import { everythingIn } from "../../packages/imaging/test/acting-pdfs.ts";
import type { Syntax } from "../hostile/mutations.ts";
import { CANARY, endIfHanging, fuzz } from "./fuzz.ts";

endIfHanging();

type StrippedType = Exclude<OriginalType, "image/svg+xml">;

const LIMITS = { maxPixels: 4_000_000, maxFrames: 50, maxSide: 8192, maxOutputPixels: 4_000_000 };
const NOTHING_KEPT = { keepMetadata: false, keepPdfActions: false };

const SYNTAX: Readonly<Record<string, Syntax>> = {
  jpeg: {
    tokens: [
      "\xff\xd8",
      "\xff\xe1\0\x10Exif\0\0",
      "\xff\xfe\0\x09abcdefg",
      "\xff\xda",
      "\xff\xd9",
      "\xff\xff\xff",
      "\xff\0",
    ],
    marks: ["\xff", "\xff\xe1", "\xff\xda", "Exif"],
  },
  png: {
    tokens: [
      "\0\0\0\0IEND\xae\x42\x60\x82",
      "\0\0\0\x05tEXtA\0bcd",
      "IDAT",
      "eXIf",
      "acTL",
      "fdAT",
      "\x89PNG\r\n\x1a\n",
    ],
    marks: ["IHDR", "IDAT", "IEND", "tEXt", "eXIf"],
  },
  gif: {
    tokens: [
      "\x21\xfe\x03abc\0",
      "\x21\xff\x0bXMP DataXMP",
      "\x2c\0\0\0\0\x08\0\x08\0\0",
      "\x3b",
      "\x21\xf9\x04\0\0\0\0\0",
    ],
    marks: ["\x21", "\x2c", "\x3b", "GIF89a"],
  },
  psd: {
    tokens: ["8BIM\x04\x04\0\0\0\0\0\x04abcd", "8BIMlnkD", "8B64lnk2", "8BPS", "liFD\0\0\0\x07", "\0\0\0\0"],
    marks: ["8BIM", "8B64", "lnk", "liFD"],
  },
  pdf: {
    tokens: [
      ...[
        "obj",
        "endobj",
        "stream\n",
        "endstream",
        "xref",
        "trailer",
        "startxref",
        "%%EOF\n",
        "<<",
        ">>",
        "[",
        "]",
      ],
      ...[
        "/Type/ObjStm",
        "/AA<</O 4 0 R>>",
        "/S/JavaScript/JS(x)",
        "/Filter/FlateDecode",
        "/Length 9",
        "/Encrypt 4 0 R",
      ],
      ...[
        "/Prev 0",
        "1 0 R",
        "(",
        ")",
        "\\",
        "#41",
        "%",
        "\0",
        "9999999999 65535 n \n",
        "7 0 obj\n<</Author(x)>>\nendobj\n",
      ],
    ],
    marks: ["obj", "<<", "/", "stream", "(", "\n", "xref"],
  },
};

const TYPES: [string, StrippedType, strip: number, admit: number][] = [
  ["jpeg", "image/jpeg", 2000, 400],
  ["png", "image/png", 2000, 400],
  ["gif", "image/gif", 2000, 400],
  ["psd", "image/x-photoshop", 2000, 400],
  ["pdf", "application/pdf", 800, 150],
];

/** Resolves with "refused" for the documented refusal; every other error is a defect. */
function orRefused(error: unknown): "refused" {
  if (isServiceError(error, "unsupported_media")) return "refused";
  throw error;
}

/** Of a PSD its resources and placed files: a damaged length may make any bytes a part of its layers or pixels. */
function describingPart(bytes: Buffer, type: StrippedType): Buffer {
  if (type !== "image/x-photoshop") return bytes;
  const large = bytes[5] === 2;
  const { imageResources, layers } = readPsdSections(bytes, large);
  const placed = [...readLayerBlocks(layers, large)].filter(({ key }) => key.startsWith("lnk"));
  return Buffer.concat([imageResources, ...placed.map(({ data }) => data)]);
}

/** A damaged key of a PDF may be a key of its own, whose value stays. */
function personal(type: StrippedType): RegExp {
  return type === "application/pdf" ? new RegExp(`/(?:Author|Title|T)\\s*\\(${CANARY}`) : new RegExp(CANARY);
}

test.each(TYPES)(
  "a damaged %s (%s) is stripped or refused, and a stripped file stays as it is",
  async (corpus, type, runs) => {
    await fuzz({
      ...{ corpus, runs, syntax: SYNTAX[corpus] as Syntax, outcomes: ["stripped"] },
      async check(bytes) {
        const pieces = await stripMetadata(bytes, type).catch(orRefused);
        if (pieces === "refused") return pieces;
        if (pieces === null) return "clean";
        const again = await stripMetadata(Buffer.concat(pieces), type);
        expect(again && Buffer.concat(again).toString("latin1"), "stripped twice").toBeNull();
        return "stripped";
      },
    });
  },
);

test.each(TYPES)(
  "an admitted %s (%s) keeps no metadata, however it is damaged",
  async (corpus, type, _, runs) => {
    await fuzz({
      ...{ corpus, runs, syntax: SYNTAX[corpus] as Syntax, outcomes: ["cleaned", "refused"] },
      async check(bytes) {
        const admitted = await admit(bytes, type, NOTHING_KEPT, LIMITS).catch(orRefused);
        if (admitted === "refused") return admitted;
        const stored = admitted.cleaned === null ? bytes : Buffer.concat(admitted.cleaned);
        expect(everythingIn(describingPart(stored, type))).not.toMatch(personal(type));
        const again = await admit(stored, type, NOTHING_KEPT, LIMITS);
        expect(again.cleaned && Buffer.concat(again.cleaned).toString("latin1"), "admitted twice").toBeNull();
        return admitted.cleaned === null ? "kept" : "cleaned";
      },
    });
  },
);

test("a damaged PDF is repaired or refused, and a repaired file opens as it is", async () => {
  await fuzz({
    ...{ corpus: "pdf", runs: 400, syntax: SYNTAX.pdf as Syntax, outcomes: ["repaired", "sound"] },
    async check(bytes) {
      const repaired = await repairPdf(bytes).catch(orRefused);
      if (repaired === "refused") return repaired;
      if (repaired === bytes) return "sound";
      expect(repaired.toString("latin1", 0, 5)).toBe("%PDF-");
      expect(await repairPdf(repaired), "repaired twice").toBe(repaired);
      return "repaired";
    },
  });
});
