import { gzipSync } from "node:zlib";
import type { ConvertibleType, OriginalType } from "@outrigger/core/images";
import sharp from "sharp";
import { expect, test } from "vitest";
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
import { writePngChunk } from "../png/png-chunks.ts";

const { timeoutMs: _, ...limits } = resolveRendererOptions({});

const [START, END] = ["The claim", "and its end"];
/** A JUMBF box: a superbox of C2PA with its description, then what it claims. */
const manifest = box("jumb", [
  box("jumd", [Buffer.from("6332706100110010800000aa00389b71", "hex"), Buffer.from("\x03c2pa\0")]),
  Buffer.from(`${START} ${"0".repeat(300)} ${END}`),
]);

function box(type: string, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(type), ...parts]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([length, content]);
}

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
  const specification = `<</Type/Filespec/F(manifest.c2pa)/AFRelationship/C2PA_Manifest/Desc(${START})/EF<</F ${FIRST + 1} 0 R>>>>`;
  const file = {
    dictionary: "/Type/EmbeddedFile/Subtype/application#2Fc2pa",
    data: manifest.toString("latin1"),
  };
  return samplePdf([{ content: QUARTERS }], [specification, file, "<</Author(An author)>>"], {
    catalogue: `/AF[${FIRST} 0 R]/Names<</EmbeddedFiles<</Names[(m)${FIRST} 0 R]>>>>`,
    trailer: `/Info ${FIRST + 2} 0 R`,
  });
}

async function carriers(): Promise<Record<string, [OriginalType | ConvertibleType, Buffer]>> {
  const picture = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });
  const png = await picture.clone().png().toBuffer();
  const webp = await picture.clone().webp().toBuffer();
  const frames = await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 });
  const { picture: base, map } = await hdrParts(64, 32);
  const credited = withSegments(map, ...app11(), mapIso());
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><metadata><m:manifest xmlns:m="http://c2pa.org/manifest">${manifest.toString("base64")}</m:manifest></metadata><path d="M0 0h9v9"/></svg>`;
  const uuid = [
    Buffer.from("d8fec3d61b0e483c92975828877ec481", "hex"),
    Buffer.from(`\0\0\0\0manifest\0${"\0".repeat(8)}`),
  ];
  const chunk = box("C2PA", []);
  chunk.write("C2PA");
  chunk.writeUInt32LE(manifest.length, 4);
  const riff = Buffer.concat([webp, chunk, manifest, Buffer.alloc(manifest.length % 2)]);
  riff.writeUInt32LE(riff.length - 8, 4);
  return {
    jpeg: ["image/jpeg", withSegments(await picture.clone().jpeg().toBuffer(), ...app11())],
    "jpeg with a gain map": [
      "image/jpeg",
      multiPicture(withSegments(base, ...app11(), PICTURE_ISO), [{ bytes: credited }]),
    ],
    png: [
      "image/png",
      Buffer.concat([png.subarray(0, 33), writePngChunk("caBX", manifest), png.subarray(33)]),
    ],
    gif: ["image/gif", Buffer.concat([frames.subarray(0, -1), gifBlocks(manifest), Buffer.from(";")])],
    svg: ["image/svg+xml", Buffer.from(svg)],
    svgz: ["image/svg+xml", gzipSync(svg)],
    pdf: ["application/pdf", pdf()],
    webp: ["image/webp", riff],
    avif: [
      "image/avif",
      Buffer.concat([await picture.clone().avif({ effort: 0 }).toBuffer(), box("uuid", [...uuid, manifest])]),
    ],
  };
}

test("Content Credentials of every carrier are found, and kept whole or removed whole", async () => {
  for (const [name, [type, bytes]] of Object.entries(await carriers())) {
    for (const keepMetadata of [false, true]) {
      for (const keepPdfActions of [false, true]) {
        const about = `${name}, ${JSON.stringify({ keepMetadata, keepPdfActions })}`;
        const { cleaned, provenance } = await admit(bytes, type, { keepMetadata, keepPdfActions }, limits);
        expect(provenance, about).toBe(true);
        const isWhole = keepMetadata && (type === "application/pdf" ? keepPdfActions : isKept(type));
        expect(cleaned === null, about).toBe(isWhole);
        if (cleaned === null) continue;
        const stored = Buffer.concat(cleaned);
        for (const trace of [
          START,
          END,
          "jumb",
          "jumd",
          "c2pa",
          "C2PA",
          manifest.toString("base64", 0, 30),
        ]) {
          expect(stored.includes(trace), `${about}: ${trace}`).toBe(false);
        }
        const [storedType] = [(await admit(stored, type, {}, limits).catch(() => null))?.provenance];
        expect(storedType, about).toBeUndefined();
      }
    }
  }
});

/** Whether a file of this type is stored unchanged with `keepMetadata`: an SVG is written anew, and others are converted. */
function isKept(type: string): boolean {
  return type === "image/jpeg" || type === "image/png" || type === "image/gif";
}

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
