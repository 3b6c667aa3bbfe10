// Nightly: eight upload kits with a lock file of their own, each in Chromium.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImagesOptions } from "@outrigger/core";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";
import { KITS, type Kit } from "./kit-rows.ts";
import { bundleBlocks, installKits, PAGE } from "./kits.ts";

const COOKIE = { name: "user", value: "ada" };
const PHOTO = { name: "harbour.jpg", mimeType: "image/jpeg", buffer: await jpegPhoto(120, 80) };
const TEXT = { name: "notes.jpg", mimeType: "image/jpeg", buffer: Buffer.from("Not a picture.\n") };

const sites: Site[] = [];
let directory: string;
let modules: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-uploaders-"));
  modules = await installKits();
  const [code = ""] = PAGE.blocks.flatMap(({ file, code }) => (file === "" ? [code] : []));
  const [names] = /\["file".*?\]/.exec(code) ?? [];
  sites.push(await startSite({ host: "Express 5", ...optionsIn(code) }));
  sites.push(await startSite({ host: "Koa 3", ...optionsIn(code.replace('"any"', `${names}`)) }));
  await bundleBlocks(directory, modules);
}, 240_000);
afterEach(async () => {
  for (const site of sites) for (const { id } of await imagesOf(site)) await site.images.remove(id);
});
afterAll(async () => {
  for (const site of sites) await site.close();
  await rm(directory, { recursive: true, force: true });
});

/** The options of a block, in an app whose users have a cookie. */
function optionsIn(code: string): Partial<Omit<ImagesOptions, "pages">> {
  const authorize: ImagesOptions["authorize"] = (call, action) => {
    if (action === "read") return undefined;
    return call.headers.cookie === `${COOKIE.name}=${COOKIE.value}` ? { owner: COOKIE.value } : false;
  };
  const read = new Function("createImages", "options", `${code}\nreturn images;`);
  return read((options: object) => options, { authorize, resumable: true });
}

async function imagesOf({ images }: Site) {
  const all = [];
  for await (const image of images.list({ owner: COOKIE.value })) all.push(image);
  return all;
}

/** Opens a page of the host with the kit. Fails for errors of its scripts. */
async function onPage({ origin }: Site, kit: Kit, use: (tab: Page) => Promise<void>): Promise<void> {
  await withPage({}, async (tab) => {
    tab.setDefaultTimeout(10_000);
    const errors: Error[] = [];
    tab.on("pageerror", (error) => errors.push(error));
    await tab.context().addCookies([{ ...COOKIE, url: origin }]);
    const isOfHost = (url: URL) => !url.pathname.startsWith("/img/");
    await tab.route(isOfHost, (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === "/") return route.fulfill({ contentType: "text/html", body: htmlOf(kit) });
      const path = pathname.startsWith("/tinymce/")
        ? join(modules, pathname)
        : join(directory, "built", pathname);
      return route.fulfill(existsSync(path) ? { path } : { status: 404 });
    });
    await tab.goto(origin);
    await use(tab);
    expect(errors).toEqual([]);
  });
}

const htmlOf = ({ module, element }: Kit) => `<!doctype html>
<title>Kit</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/${module}.css">
${element}
<script type="module" src="/${module}.js"></script>`;

test.each(
  KITS.flatMap((kit) => [[kit.name, "Express 5", 0, kit] as const, [kit.name, "Koa 3", 1, kit] as const]),
)("%s uploads a photo to %s by its own controls, and shows it from the service", async (_n, _h, at, kit) => {
  const site = sites[at] as Site;
  await onPage(site, kit, async (tab) => {
    await kit.choose(tab, PHOTO);
    await kit.finish?.(tab);
    const seen = () =>
      kit.picture(tab).evaluate(({ src, naturalWidth, naturalHeight }: HTMLImageElement) => ({
        address: src.replace(/[\w-]{22}$/, "<id>"),
        size: [naturalWidth, naturalHeight],
      }));
    await expect.poll(seen).toEqual({ address: `${site.base}/<id>`, size: [120, 80] });
    expect(await imagesOf(site)).toMatchObject([{ name: PHOTO.name, type: "image/jpeg", expiresAt: null }]);
  });
});

test.each(KITS.map((kit) => [kit.name, kit] as const))(
  "%s shows its user the service's reason for a refusal",
  async (_name, kit) => {
    const [site] = sites as [Site];
    await onPage(site, kit, async (tab) => {
      const alerts: string[] = [];
      tab.on("dialog", (dialog) => {
        alerts.push(dialog.message());
        void dialog.accept();
      });
      await kit.choose(tab, TEXT);
      const seen = async () => alerts[0] ?? (await kit.reason?.(tab)) ?? null;
      await expect.poll(seen).toContain("The file is not a PNG, JPEG, GIF, SVG, PSD or PDF file");
      expect(await imagesOf(site)).toEqual([]);
    });
  },
);
