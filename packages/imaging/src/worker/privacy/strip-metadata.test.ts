import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { expect, test } from "vitest";
import { QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { resource, samplePsd } from "../../../../../test/support/psd-samples.ts";
import { annotation, appearance, CANARY, FIRST, JAVASCRIPT, link } from "../../../test/acting-pdfs.ts";
import {
  hdrParts,
  mapIso,
  multiPicture,
  PICTURE_ISO,
  segment,
  withSegments,
} from "../../../test/hdr-jpegs.ts";
import { animation, CORNERS, cornered } from "../../../test/pictures.ts";
import { resolveRendererOptions } from "../../renderer-options.ts";
import { admit } from "../admit.ts";
import { openPicture } from "../open-picture.ts";
import { Edits } from "./edits.ts";

type Kept = Parameters<typeof admit>[2];

/** A file with the name of its author and, where its type can hold it, something that acts. */
interface Telling {
  type: OriginalType;
  bytes: Buffer;
  /** Texts that stay whatever the options. */
  stays: readonly string[];
  acts?: true;
}

const AUTHOR = "Canary-7H3-Bird";
const LINK = "https://e.test/a-link";
const { timeoutMs: _, ...limits } = resolveRendererOptions({});
const telling = { ...(await rasters()), psd: psd(), pdf: pdf(), svg: svg() } satisfies Record<
  string,
  Telling
>;

async function rasters() {
  const picture = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } })
    .withIccProfile("p3")
    .withMetadata({ orientation: 6 })
    .withExifMerge({ IFD0: { Artist: AUTHOR }, IFD3: { GPSLatitudeRef: "N" } })
    .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${AUTHOR}</x:xmpmeta>`);
  const { picture: plain, map } = await hdrParts(64, 32);
  const described = withSegments(plain, segment(0xfe, AUTHOR), PICTURE_ISO);
  const frames = await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 });
  const comment = Buffer.from(`!\xfe${String.fromCharCode(AUTHOR.length)}${AUTHOR}\0;`, "latin1");
  return {
    jpeg: { type: "image/jpeg", bytes: await picture.clone().jpeg().toBuffer(), stays: ["ICC_PROFILE"] },
    png: { type: "image/png", bytes: await picture.clone().png().toBuffer(), stays: ["iCCP", "eXIf"] },
    hdr: {
      type: "image/jpeg",
      bytes: multiPicture(described, [{ bytes: withSegments(map, segment(0xfe, AUTHOR), mapIso()) }]),
      stays: ["MPF\0", "urn:iso:std:iso:ts:21496:-1"],
    },
    gif: {
      type: "image/gif",
      bytes: Buffer.concat([frames.subarray(0, -1), comment]),
      stays: ["NETSCAPE2.0"],
    },
  } as const;
}

function psd(): Telling {
  const channel = [0, 90, 180, 255];
  const bytes = samplePsd({
    width: 2,
    height: 2,
    channels: [channel, channel, channel],
    resources: [resource(1005, Buffer.from("16 bytes of size")), resource(1060, Buffer.from(AUTHOR))],
  });
  return { type: "image/x-photoshop", bytes, stays: ["16 bytes of size"] };
}

/** @param filter Entries of a picture that the page shows. */
function pdf(content = QUARTERS): Telling {
  const annotations = [
    link(JAVASCRIPT),
    link(`<</S/URI/URI(${LINK})>>`),
    annotation("FileAttachment", "/FS<</Type/Filespec/F(a file)>>"),
  ];
  const bytes = samplePdf(
    [{ content, entries: `/Annots[${annotations.join("")}]` }],
    [appearance, `<</Author(${AUTHOR})/Title(${AUTHOR})>>`],
    { catalogue: `/OpenAction ${JAVASCRIPT}`, trailer: `/Info ${FIRST + 1} 0 R` },
  );
  return { type: "application/pdf", bytes, stays: [LINK], acts: true };
}

function svg(): Telling {
  const drawing = `<title>A title</title><path d="M0 0h9v9"/>`;
  const personal = `<metadata>${AUTHOR}</metadata><script>${CANARY}</script>`;
  const bytes = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${drawing}${personal}</svg>`;
  return { type: "image/svg+xml", bytes: Buffer.from(bytes), stays: ["A title"], acts: true };
}

async function pixelsOf(bytes: Buffer, type: OriginalType): Promise<Buffer> {
  const picture = await openPicture(bytes, type, limits);
  return (await picture.decode({ animated: picture.frames > 1 })).raw().toBuffer();
}

const PAIRS = [undefined, false, true].flatMap((keepMetadata) =>
  [undefined, false, true].map(
    (keepPdfActions): Kept => ({
      ...(keepMetadata === undefined ? {} : { keepMetadata }),
      ...(keepPdfActions === undefined ? {} : { keepPdfActions }),
    }),
  ),
);

/** Expects that `file` holds what `kept` names of the original, and everything that is no metadata. */
function expectKept(name: string, { type, bytes, stays, acts }: Telling, kept: Kept, file: Buffer): void {
  const about = `${name} with ${JSON.stringify(kept)}`;
  const isSvg = type === "image/svg+xml";
  const [keepsAuthor, keepsActions] = [kept.keepMetadata === true && !isSvg, kept.keepPdfActions === true];
  expect(file.includes(AUTHOR), about).toBe(keepsAuthor);
  if (acts) expect(file.includes(CANARY), about).toBe(keepsActions && !isSvg);
  if (type === "application/pdf") expect(file.includes("/FileAttachment"), about).toBe(keepsActions);
  for (const text of stays) expect(file.includes(text), `${about}: ${text}`).toBe(true);
  // Only a PDF has actions that can be removed without its metadata.
  const isWhole = keepsAuthor && (keepsActions || type !== "application/pdf");
  expect(file.equals(bytes), about).toBe(isWhole);
}

test("admit removes metadata and actions of each type unless the options keep them, and keeps the pixels", async () => {
  for (const [name, file] of Object.entries<Telling>(telling)) {
    const before = Buffer.from(file.bytes);
    const pixels = await pixelsOf(file.bytes, file.type);
    for (const kept of PAIRS) {
      const { cleaned } = await admit(file.bytes, file.type, kept, limits);
      const stored = cleaned === null ? file.bytes : Buffer.concat(cleaned);
      expectKept(name, file, kept, stored);
      expect((await pixelsOf(stored, file.type)).equals(pixels), name).toBe(true);
      expect((await admit(stored, file.type, kept, limits)).cleaned, `${name} again`).toBeNull();
    }
    expect(file.bytes.equals(before)).toBe(true);
  }
});

test("Renderer.admit passes both options to its worker process, and a PDF rendition keeps only actions", async () => {
  const renderer = createRenderer({ timeoutMs: 60_000 });
  const directory = await mkdtemp(join(tmpdir(), "kept-"));
  try {
    for (const [index, kept] of PAIRS.entries()) {
      for (const name of ["jpeg", "pdf"] as const) {
        const cleanedPath = join(directory, `${name}${index}`);
        const { type, bytes } = telling[name];
        const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath, ...kept });
        expectKept(name, telling[name], kept, cleaned === null ? bytes : await readFile(cleanedPath));
      }
    }
    // A rendition of a document whose actions the host keeps, and of one whose inline pictures cannot be cleaned.
    for (const source of [telling.pdf.bytes, pdf(`${QUARTERS} ${"BI /W 1 ".repeat(21)}`).bytes]) {
      const { bytes } = await renderer.render({ bytes: source }, "application/pdf", { format: "pdf" });
      expect([CANARY, LINK, AUTHOR].map((text) => bytes.includes(text))).toEqual([true, true, false]);
    }
  } finally {
    await renderer.close();
    await rm(directory, { recursive: true });
  }
});

const source = Buffer.from("0123456789");

function edited(change: (edits: Edits) => void): string | null {
  const edits = new Edits(source, "image/png");
  change(edits);
  const pieces = edits.apply();
  return pieces === null ? null : Buffer.concat(pieces).toString();
}

test("Edits removes and replaces bytes, in any order of calls", () => {
  const result = edited((edits) => {
    edits.replace(8, 9, Buffer.from("eight"));
    edits.remove(0, 2);
    edits.remove(2, 3);
    edits.replace(5, 6, Buffer.alloc(0));
  });
  expect(result).toBe("3467eight9");
});

test("Edits returns null when nothing changes", () => {
  expect(edited(() => {})).toBeNull();
  expect(edited((edits) => edits.remove(4, 4))).toBeNull();
  expect(edited((edits) => edits.replace(4, 6, Buffer.from("45")))).toBeNull();
});

test("Edits prefers an edit that contains another", () => {
  const result = edited((edits) => {
    edits.replace(3, 4, Buffer.from("inner"));
    edits.replace(2, 6, Buffer.from("outer"));
    edits.replace(2, 3, Buffer.from("first"));
  });
  expect(result).toBe("01outer6789");
});

test("Edits shares the memory of the source and does not write to it", () => {
  const edits = new Edits(source, "image/png");
  edits.replace(3, 4, Buffer.from("x"));
  const [before] = edits.apply() ?? [];
  expect(before?.buffer).toBe(source.buffer);
  expect(source.toString()).toBe("0123456789");
});

test("Edits throws for more pieces than any file has", () => {
  const large = Buffer.alloc(300_000, "ab");
  const edits = new Edits(large, "image/jpeg");
  const removeAll = () => {
    for (let start = 0; start < large.length; start += 2) edits.remove(start, start + 1);
  };
  expect(removeAll).toThrow(expect.objectContaining({ code: "unsupported_media" }));
});
