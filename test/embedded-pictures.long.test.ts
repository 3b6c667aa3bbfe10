import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Images } from "@outrigger/core";
import type { OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  isPersonal,
  personalTagsIn,
  type RasterExtension,
  readBack,
  SECRETS,
  secretPicture,
  secretsIn,
  tagsIn,
} from "./support/secret-pictures.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const EXTENSIONS = ["jpg", "png", "gif", "webp"] as const;

let directory: string;
let images: Images;
const pictures = {} as Record<RasterExtension, Buffer>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-embedded-"));
  images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer({ workers: 1, timeoutMs: 60_000 }),
    publicUrl: "https://h.example",
  });
  for (const extension of EXTENSIONS) {
    pictures[extension] = await secretPicture(extension);
    expect((await tagsIn(pictures[extension], extension)).filter(isPersonal)).not.toEqual([]);
    expect(secretsIn(pictures[extension])).toContain(SECRETS.author);
  }
});
afterAll(async () => {
  await images.close();
  rmSync(directory, { recursive: true });
});

/** The pictures in `data:` URLs of a document and of documents inside it. */
function picturesIn(svg: Buffer): Buffer[] {
  return [...svg.toString().matchAll(/href="data:image\/([a-z+]+);base64,([^"]+)"/g)].flatMap(
    ([, type, data = ""]) => {
      const bytes = Buffer.from(data, "base64");
      return type === "svg+xml" ? picturesIn(bytes) : [bytes];
    },
  );
}

const svg = (content: string) => `<svg ${NAMESPACE} width="60" height="40">${content}</svg>`;
const base64 = (bytes: Buffer | string, type: string) =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
const percent = (bytes: Buffer) =>
  `data:image/jpeg,${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")}`;
const image = (url: string, name = "href", element = "image") =>
  `<${element} width="60" height="40" ${name}="${url}"/>`;

describe("a picture in an SVG", () => {
  const urls: [title: string, url: (jpeg: Buffer) => string][] = [
    ["base64", (jpeg) => base64(jpeg, "image/jpeg")],
    ["base64 declared as an SVG", (jpeg) => base64(jpeg, "image/svg+xml")],
    ["percent escapes and a fragment", (jpeg) => `${percent(jpeg)}#a`],
  ];

  test.each(urls)(
    "as %s loses place, camera and author in the original and in SVG and PDF renditions",
    async (_, url) => {
      const link = url(pictures.jpg);
      const nested = svg(image(link));
      const document = svg(
        [
          ...[
            image(link),
            image(link, "xlink:href"),
            `<defs><pattern id="p">${image(link)}</pattern><mask id="m">${image(link)}</mask></defs>`,
          ],
          ...[
            `<filter id="f">${image(link, "href", "feImage")}</filter>`,
            `<a>${image(link)}</a>`,
            `<switch>${image(link)}</switch>`,
          ],
          image(base64(nested, "image/svg+xml")),
          image(base64(svg(image(base64(nested, "image/svg+xml"))), "image/svg+xml")),
        ].join(""),
      );
      const [original = Buffer.alloc(0), ...renditions] = await readBack(
        images,
        Buffer.from(document),
        "image/svg+xml",
        [
          ...([
            { format: "svg", resize: "30x" },
            { format: "svg", resize: "20x20", fit: "cover" },
          ] as const),
          ...([{ format: "pdf" }, { format: "pdf", resize: "30x" }] as const),
        ],
      );
      expect(picturesIn(original)).toHaveLength(9);
      for (const file of [original, ...renditions]) expect(secretsIn(file)).toEqual([]);
      expect(await personalTagsIn(picturesIn(original))).toEqual([]);
      const [picture = Buffer.alloc(0)] = picturesIn(original);
      expect(await tagsIn(picture, "jpg")).toContain("IFD0:Orientation");
    },
  );

  test("of each type loses its metadata and keeps its pixels, in a vector PDF, too", async () => {
    const document = svg(EXTENSIONS.map((each) => image(base64(pictures[each], "image/jpeg"))).join(""));
    const files = await readBack(images, Buffer.from(document), "image/svg+xml", [
      { format: "svg", resize: "30x" },
      { format: "pdf" },
    ]);
    for (const file of files) expect(secretsIn(file)).toEqual([]);
    const found = picturesIn(files[0] ?? Buffer.alloc(0));
    expect(await personalTagsIn(found)).toEqual([]);
    const pixels = (bytes: Buffer) => sharp(bytes, { autoOrient: true }).raw().toBuffer();
    for (const [index, extension] of EXTENSIONS.entries()) {
      const picture = found[index] ?? Buffer.alloc(0);
      expect((await pixels(picture)).equals(await pixels(pictures[extension])), extension).toBe(true);
    }
  });
});

describe("an original that is stored with its metadata", () => {
  const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
  afterAll(() => renderer.close());

  test("has SVG and PDF renditions without metadata", async () => {
    const files: [OriginalType, Buffer][] = [
      ["image/jpeg", pictures.jpg],
      ["image/png", pictures.png],
      ["image/gif", pictures.gif],
      ["image/svg+xml", Buffer.from(svg(image(base64(pictures.jpg, "image/jpeg"))))],
    ];
    for (const [type, bytes] of files) {
      for (const format of ["svg", "pdf"] as const) {
        for (const spec of [{ format }, { format, maxWidth: 20 }]) {
          const rendition = await renderer.render({ bytes }, type, spec);
          expect(secretsIn(rendition.bytes), `${type} as ${format}`).toEqual([]);
        }
      }
    }
  });
});
