import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { halvesHeic } from "../support/heic-samples.ts";
import { choose, entryOf, linkOf, recordAt, shareUploadPage, textFile } from "./upload-page.ts";

describe("the upload page of a service that converts", () => {
  const shared = shareUploadPage({ convertUploads: ["webp", "avif", "tiff", "heic"] });

  test("uploads files of these types, and each row names the type that its file had", async () => {
    const photo = sharp(shared.photo);
    const files = {
      WebP: await photo.clone().webp().toBuffer(),
      AVIF: await photo.clone().avif({ effort: 0 }).toBuffer(),
      TIFF: await photo.clone().tiff().toBuffer(),
      HEIC: halvesHeic,
    };
    await shared.onPage(async (page) => {
      await choose(
        page,
        ...Object.entries(files).map(([label, buffer]) => ({
          name: `boat.${label.toLowerCase()}`,
          mimeType: "",
          buffer,
        })),
        textFile(),
      );
      for (const [label] of Object.entries(files)) {
        const row = entryOf(page, `boat.${label.toLowerCase()}`);
        await row.getByText(`from ${label}`).waitFor();
        expect((await recordAt(shared.site, await linkOf(row))).source).toBe(`image/${label.toLowerCase()}`);
      }
      expect(await entryOf(page, "notes.txt").textContent()).toContain(
        "Use PNG, JPEG, GIF, SVG, PSD, PDF, WebP, AVIF, TIFF, or HEIC.",
      );
      await page.reload();
      await entryOf(page, "boat.avif").getByText("from AVIF").waitFor();
    });
  });
});
