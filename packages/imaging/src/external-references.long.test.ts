import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";

const renderer = createRenderer({ workers: 1 });
const hits: string[] = [];
let server: Server;
let directory: string;
let picture: Buffer;
/** The real targets of the references: a listener, and files. */
let places: { picture: string; drawing: string; styles: string; text: string }[];

beforeAll(async () => {
  picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: "#f00" } })
    .png()
    .toBuffer();
  directory = await mkdtemp(join(tmpdir(), "references-"));
  const files: Record<string, Buffer | string> = {
    "red.png": picture,
    "red.svg": document('<rect id="a" width="9" height="9"/>'),
    "red.css": "rect { fill: #f00 !important; fill-opacity: 1 !important }",
    "red.txt": "MMMM",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.end(files[request.url?.slice(1) ?? ""]);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bases = [`${address}/`, `${pathToFileURL(directory).href}/`, `${directory}/`, "", "./"];
  places = bases.map((base) => ({
    picture: `${base}red.png`,
    drawing: `${base}red.svg`,
    styles: `${base}red.css`,
    text: `${base}red.txt`,
  }));
});

afterAll(async () => {
  server.close();
  await Promise.all([renderer.close(), rm(directory, { recursive: true })]);
});

function document(content: string, prolog = ""): string {
  const names =
    'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xi="http://www.w3.org/2001/XInclude"';
  return `<?xml version="1.0"?>${prolog}<svg ${names} width="9" height="9">${content}</svg>`;
}

/** Whether anything is drawn. A refused document draws nothing. */
async function paints(text: string): Promise<boolean> {
  // Beside the files, so that a relative reference would find them.
  const path = join(directory, "referring.svg");
  await writeFile(path, text);
  try {
    const { bytes } = await renderer.render({ path }, "image/svg+xml", { format: "png" });
    const { channels } = await sharp(bytes).ensureAlpha().stats();
    return channels[3]?.max !== 0;
  } catch (error) {
    expect(error).toMatchObject({ code: "unsupported_media" });
    return false;
  }
}

const invisible = '<rect width="9" height="9" fill-opacity="0"/>';

test.each<[string, (place: (typeof places)[number]) => string]>([
  ["an image", ({ picture: href }) => document(`<image width="9" height="9" href="${href}"/>`)],
  [
    "an image by xlink",
    ({ picture: href }) => document(`<image width="9" height="9" xlink:href="${href}"/>`),
  ],
  ["a drawing as image", ({ drawing }) => document(`<image width="9" height="9" href="${drawing}"/>`)],
  [
    "a picture in an embedded drawing",
    ({ picture: href }) => {
      const drawing = document(`<image width="9" height="9" href="${href}"/>`);
      const url = `data:image/svg+xml;base64,${Buffer.from(drawing).toString("base64")}`;
      return document(`<image width="9" height="9" href="${url}"/>`);
    },
  ],
  [
    "an entity of an embedded drawing",
    ({ text }) => {
      const drawing = document("<text y='9'>&x;</text>", `<!DOCTYPE svg [<!ENTITY x SYSTEM "${text}">]>`);
      return document(
        `<image width="9" height="9" href="data:image/svg+xml,${encodeURIComponent(drawing)}"/>`,
      );
    },
  ],
  [
    "a filter image",
    ({ picture: href }) =>
      document(`<filter id="f"><feImage width="9" height="9" href="${href}"/></filter>
        <rect width="9" height="9" filter="url(#f)"/>`),
  ],
  ["a part of another drawing", ({ drawing }) => document(`<use href="${drawing}#a"/>`)],
  [
    "a fill of another drawing",
    ({ drawing }) => document(`<rect width="9" height="9" fill="url(${drawing}#a)"/>`),
  ],
  [
    "an imported style sheet",
    ({ styles }) => document(`<style>@import url("${styles}");</style>${invisible}`),
  ],
  [
    "a linked style sheet",
    ({ styles }) => document(invisible, `<?xml-stylesheet href="${styles}" type="text/css"?>`),
  ],
  [
    "a font",
    ({ picture: href }) =>
      document(`<style>@font-face{font-family:x;src:url(${href})}</style>
    <text y="9" font-family="x" fill-opacity="0">a</text>`),
  ],
  [
    "an entity",
    ({ text }) => document("<text y='9'>&x;</text>", `<!DOCTYPE svg [<!ENTITY x SYSTEM "${text}">]>`),
  ],
  ["a parameter entity", ({ text }) => document("", `<!DOCTYPE svg [<!ENTITY % p SYSTEM "${text}"> %p;]>`)],
  ["a document type", ({ text }) => document("", `<!DOCTYPE svg SYSTEM "${text}">`)],
  ["an inclusion", ({ drawing }) => document(`<xi:include href="${drawing}"/>`)],
  [
    "a text inclusion",
    ({ text }) => document(`<text y="9"><xi:include parse="text" href="${text}"/></text>`),
  ],
])("an SVG that refers to %s loads nothing, from a file or in memory", async (_, write) => {
  for (const place of places) {
    const text = write(place);
    expect(await paints(text), text).toBe(false);
  }
  expect(hits).toEqual([]);
});

test("an SVG with an embedded picture, an entity and a style sheet is drawn with them", async () => {
  const href = `data:image/png;base64,${picture.toString("base64")}`;
  expect(await paints(document(`<image width="9" height="9" href="${href}"/>`))).toBe(true);
  expect(await paints(document("<text y='9'>&x;</text>", '<!DOCTYPE svg [<!ENTITY x "MMMM">]>'))).toBe(true);
  const drawing = Buffer.from(document(`<image width="9" height="9" href="${href}"/>`)).toString("base64");
  const nested = document(`<image width="9" height="9" href="data:image/svg+xml;base64,${drawing}"/>`);
  expect(await paints(nested)).toBe(true);
  expect(await paints(document(`<style>rect { fill-opacity: 1 !important }</style>${invisible}`))).toBe(true);
});
