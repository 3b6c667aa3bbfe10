import { gzipSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import sharp from "sharp";
import { expect, test } from "vitest";
import {
  box,
  CLAIM_END,
  CLAIM_START,
  creditedPng,
  manifest,
} from "../../../../../test/support/credentials.ts";
import { QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { FIRST } from "../../../test/acting-pdfs.ts";
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

const { timeoutMs: _, ...limits } = resolveRendererOptions({});

/** The start of the manifest in an SVG. */
const BASE64 = manifest.toString("base64", 0, 30);

/** APP11 segments that hold the manifest in two parts, each with the header of the box (ISO 19566-5, annex D). */
function app11(): Buffer[] {
  const parts = [manifest.subarray(8, 200), manifest.subarray(200)];
  return parts.map((part, index) =>
    segment(
      0xeb,
      Buffer.concat([Buffer.from("JP\0\x01\0\0\0"), Buffer.of(index + 1), manifest.subarray(0, 8), part]),
    ),
  );
}

function gifBlocks(data: Buffer): Buffer {
  const blocks = [];
  for (let at = 0; at < data.length; at += 255) {
    const part = data.subarray(at, at + 255);
    blocks.push(Buffer.of(part.length), part);
  }
  return Buffer.concat([Buffer.from("!\xff\x0bC2PA_GIF\x01\0\0", "latin1"), ...blocks, Buffer.of(0)]);
}

function pdf(): Buffer {
  const specification = `<</Type/Filespec/F(manifest.c2pa)/AFRelationship/C2PA_Manifest/Desc(${CLAIM_START})/EF<</F ${FIRST + 1} 0 R>>>>`;
  const file = {
    dictionary: "/Type/EmbeddedFile/Subtype/application#2Fc2pa",
    data: manifest.toString("latin1"),
  };
  return samplePdf([{ content: QUARTERS }], [specification, file, "<</Author(An author)>>"], {
    catalogue: `/AF[${FIRST} 0 R]/Names<</EmbeddedFiles<</Names[(m)${FIRST} 0 R]>>>>`,
    trailer: `/Info ${FIRST + 2} 0 R`,
  });
}

async function carriers(): Promise<Record<string, [OriginalType, Buffer]>> {
  const picture = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });
  const png = await picture.clone().png().toBuffer();
  const frames = await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 });
  const { picture: base, map } = await hdrParts(64, 32);
  const credited = withSegments(map, ...app11(), mapIso());
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><metadata><m:manifest xmlns:m="http://c2pa.org/manifest">${manifest.toString("base64")}</m:manifest></metadata><path d="M0 0h9v9"/></svg>`;
  return {
    jpeg: ["image/jpeg", withSegments(await picture.clone().jpeg().toBuffer(), ...app11())],
    "jpeg with a gain map": [
      "image/jpeg",
      multiPicture(withSegments(base, ...app11(), PICTURE_ISO), [{ bytes: credited }]),
    ],
    png: ["image/png", creditedPng(png)],
    gif: ["image/gif", Buffer.concat([frames.subarray(0, -1), gifBlocks(manifest), Buffer.from(";")])],
    svg: ["image/svg+xml", Buffer.from(svg)],
    svgz: ["image/svg+xml", gzipSync(svg)],
    pdf: ["application/pdf", pdf()],
  };
}

test("Content Credentials of every carrier are found, and kept whole or removed whole", async () => {
  for (const [name, [type, bytes]] of Object.entries(await carriers())) {
    for (const keepMetadata of [false, true]) {
      for (const keepPdfActions of [false, true]) {
        const about = `${name}, ${JSON.stringify({ keepMetadata, keepPdfActions })}`;
        const { cleaned, provenance } = await admit(bytes, type, { keepMetadata, keepPdfActions }, limits);
        expect(provenance, about).toBe(true);
        // An SVG is written anew.
        const isWhole =
          keepMetadata && type !== "image/svg+xml" && (type !== "application/pdf" || keepPdfActions);
        expect(cleaned === null, about).toBe(isWhole);
        if (cleaned === null) continue;
        const stored = Buffer.concat(cleaned);
        for (const trace of [CLAIM_START, CLAIM_END, "jumb", "jumd", "c2pa", "C2PA", BASE64]) {
          expect(stored.includes(trace), `${about}: ${trace}`).toBe(false);
        }
        expect(await admit(stored, type, {}, limits), about).not.toHaveProperty("provenance");
      }
    }
  }
});

test("a file without Content Credentials has no provenance, even with other JUMBF boxes or texts about C2PA", async () => {
  const jpeg = await sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } })
    .jpeg()
    .toBuffer();
  const other = box("jumb", [box("jumd", [Buffer.alloc(16, 7), Buffer.from("\x03other\0")])]);
  const files: [OriginalType, Buffer][] = [
    [
      "image/jpeg",
      withSegments(jpeg, segment(0xeb, Buffer.concat([Buffer.from("JP\0\x01\0\0\0\x01"), other]))),
    ],
    ["image/jpeg", withSegments(jpeg, segment(0xfe, "c2pa C2PA_Manifest jumd"))],
    [
      "image/svg+xml",
      Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>c2pa jumd</title><path d="M0 0h9v9"/></svg>',
      ),
    ],
    ["application/pdf", samplePdf([{ content: QUARTERS }], [])],
  ];
  for (const [type, bytes] of files)
    expect(await admit(bytes, type, {}, limits)).not.toHaveProperty("provenance");
});
