// Nightly: Firefox and WebKit; the other files of this folder drive Chromium.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test } from "vitest";
import { launchFirefox, launchWebKit } from "../support/other-browsers.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";

test.each([
  ["Firefox", launchFirefox],
  ["WebKit", launchWebKit],
])(
  "%s uploads a file through the page, and shows its picture behind the link",
  async (_name, launch) => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-chosen-"));
    const path = join(directory, "boat.png");
    await writeFile(
      path,
      await sharp(await jpegPhoto(120, 80))
        .png()
        .toBuffer(),
    );
    const browser = await launch();
    try {
      await withSite({}, async (site) => {
        await browser.open(`${site.base}/`);
        const isOpen = () => browser.evaluate('return document.querySelector("#chooser") !== null');
        await expect.poll(isOpen).toBe(true);
        await browser.choose("#chooser", path);
        const link = () => browser.evaluate('return document.querySelector(".entry a.thumbnail")?.href');
        await expect.poll(link).toMatch(/\/[\w-]{22}\/view$/);
        expect(await browser.evaluate('return document.querySelector(".entry .title").textContent')).toBe(
          "boat.png",
        );
        await browser.open(String(await link()));
        const width = "return document.querySelector('figure img')?.naturalWidth";
        await expect.poll(() => browser.evaluate(width)).toBe(120);
      });
    } finally {
      await browser.close();
      await rm(directory, { recursive: true });
    }
  },
  180_000,
);
