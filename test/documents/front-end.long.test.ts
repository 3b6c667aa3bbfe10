import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { type Host, serveHost } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";
import { blocksIn, ROOT, readPages } from "./pages.ts";

type Render = (image: Created, alt: string) => string | Promise<string>;

const ALT = `a "pier" & <boats>`;
/** Widths that next/image requests unless its options say otherwise. */
const NEXT_WIDTHS = [16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840];

const blocks = blocksIn(await readPages(), "js", "jsx").filter(
  ({ page }) => page === "packages/client/README.md",
);
let directory: string;
let site: Site;
let image: Created;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-front-end-"));
  await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
  site = await startSite();
  image = await upload(site, await jpegPhoto(2000, 1500), "image/jpeg");
});
afterAll(async () => {
  await site.close();
  await rm(directory, { recursive: true, force: true });
});

/** The code of the page's only block that has this text. */
function blockWith(text: string): string {
  const found = blocks.filter(({ code }) => code.includes(text));
  expect(found.map(({ line }) => line)).toHaveLength(1);
  return found[0]?.code ?? "";
}

/** Bundles an entry that imports the example, and imports the bundle. */
async function moduleOf<T>(example: string, code: string, entry: string): Promise<T> {
  await writeFile(join(directory, example), code);
  const outfile = join(directory, `${example}.bundle.mjs`);
  const stdin = { contents: entry, resolveDir: directory };
  await build({
    stdin,
    outfile,
    ...{ bundle: true, format: "esm", platform: "node", packages: "external", jsx: "automatic" },
  });
  return (await import(pathToFileURL(outfile).href)) as T;
}

/** The page as a server renders it, by the name of its heading. */
const EXAMPLES: Readonly<Record<string, () => Promise<{ render: Render }>>> = {
  HTML: () =>
    moduleOf(
      "photo.js",
      `import { createImagesClient } from "@outrigger/client";
      const images = createImagesClient({ baseUrl: ${JSON.stringify(site.base)} });
      ${blockWith("return `<img")}`,
      `export { photo as render } from "./photo.js";`,
    ),
};

describe.each(Object.keys(EXAMPLES))("the example of packages/client/README.md in %s", (name) => {
  let page: Host;

  beforeAll(async () => {
    const { render } = (await EXAMPLES[name]?.()) ?? {};
    const html = await render?.(image, ALT);
    page = await serveHost((_req, res) => {
      res.setHeader("Content-Type", "text/html; charset=utf-8");
      res.end(`<!doctype html><title>Pier</title><style>body { margin: 0 }</style>${html}<p>Text`);
    });
  });
  afterAll(() => page.close());

  test.each([
    { screen: "a telephone", width: 360, deviceScaleFactor: 1, loaded: 400 },
    { screen: "a tablet of double density", width: 390, deviceScaleFactor: 2, loaded: 800 },
    { screen: "a desk", width: 1440, deviceScaleFactor: 1, loaded: 1600 },
  ])("$screen loads only the rendition of $loaded pixels, and its layout does not shift", async (device) => {
    const { width, deviceScaleFactor, loaded } = device;
    const viewport = { width, height: 800 };
    await withPage({ viewport, deviceScaleFactor }, async (tab) => {
      const requested: string[] = [];
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await tab.route("**/api/images/**", async (route) => {
        requested.push(route.request().url());
        await released;
        await route.continue();
      });
      await tab.goto(page.origin, { waitUntil: "commit" });
      const picture = tab.locator("img");
      const before = await picture.boundingBox();
      release();
      await tab.waitForLoadState("load");
      const shown = Math.min(width, 2000);
      expect(before).toEqual({ x: 0, y: 0, width: shown, height: shown * 0.75 });
      expect(await picture.boundingBox()).toEqual(before);
      expect(await picture.getAttribute("alt")).toBe(ALT);
      expect(requested).toEqual([`${site.base}/api/images/${image.id}.webp?resize=${loaded}x`]);
      const { bytes } = await bytesOf(requested[0] ?? "");
      expect((await sharp(bytes).metadata()).width).toBe(loaded);
    });
  });
});

test("the component of packages/client/README.md gives next/image an address that the loader extends", async () => {
  // In place of next/image: the loader's address for one width, and the other attributes.
  const standIn = `import load from "./image-loader.js";
    export default ({ src, ...others }) => <img {...others} src={load({ src, width: 640 })} />;`;
  await writeFile(join(directory, "next-image.jsx"), standIn);
  await writeFile(join(directory, "image-loader.js"), blockWith("function imageLoader"));
  const { render } = await moduleOf<{ render: Render }>(
    "next-photo.jsx",
    blockWith('from "next/image"').replace("next/image", "./next-image.jsx"),
    `import { createElement } from "react";
    import { renderToString } from "react-dom/server";
    import { Photo } from "./next-photo.jsx";
    export const render = (image, alt) => renderToString(createElement(Photo, { image, alt }));`,
  );
  const address = `https://example.com/img/api/images/${image.id}.webp?resize=640x`;
  // React also preloads the image.
  expect((await render(image, "pier")).replace(/^<link[^>]*>/, "")).toBe(
    `<img width="2000" height="1500" sizes="100vw" alt="pier" src="${address}"/>`,
  );
});

test("the loader of packages/client/README.md for next/image returns the rendition of each width", async () => {
  const { default: load } = await moduleOf<{ default: (asked: { src: string; width: number }) => string }>(
    "image-loader.js",
    blockWith("function imageLoader"),
    `export { default } from "./image-loader.js";`,
  );
  const src = `${site.base}/api/images/${image.id}.webp`;
  for (const width of NEXT_WIDTHS) {
    const { response, bytes } = await bytesOf(load({ src, width }));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect((await sharp(bytes).metadata()).width).toBe(Math.min(width, 2000));
  }
});
