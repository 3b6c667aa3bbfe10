import type { Page } from "playwright-core";
import sharp from "sharp";
import { expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { overflowsOf } from "../support/chromium.ts";
import { halvesHeic } from "../support/heic-samples.ts";
import { animatedGif, emptyPdf, flatPsd, pngPhoto, svgDrawing } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";
import {
  choose,
  copied,
  entryOf,
  eventually,
  linkOf,
  menuItem,
  onUploadPage,
  recordAt,
  shareUploadPage,
  textFile,
} from "./upload-page.ts";

const DAY_MS = 86_400_000;
const labelledSvg = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 24"><rect width="40" height="24"/><foreignObject width="40" height="24"><div xmlns="http://www.w3.org/1999/xhtml"><span>Start</span></div></foreignObject></svg>`,
);

const shared = shareUploadPage({ mountPath: "/deep/img" });
const { boat, onPage } = shared;

test("every kind of chosen file uploads, including types that the browser does not know", async () => {
  await onPage(async (page) => {
    const files = [
      boat(),
      { name: "sea.png", mimeType: "image/png", buffer: await pngPhoto(60, 40) },
      { name: "wave.gif", mimeType: "image/gif", buffer: await animatedGif(2, 40, 30) },
      { name: "chart.svg", mimeType: "image/svg+xml", buffer: svgDrawing },
      { name: "plan.psd", mimeType: "", buffer: flatPsd() },
      { name: "log.pdf", mimeType: "application/pdf", buffer: emptyPdf() },
      { name: "in truth a photo.png", mimeType: "image/png", buffer: shared.photo },
    ];
    await choose(page, ...files);
    await page.getByRole("heading", { name: "7 images are ready to share" }).waitFor();
    const types: string[] = [];
    for (const { name } of files) {
      const record = await recordAt(shared.site, await linkOf(entryOf(page, name)));
      expect(record.name).toBe(name);
      types.push(String(record.type));
    }
    expect(types).toEqual([
      ...["image/jpeg", "image/png", "image/gif", "image/svg+xml"],
      ...["image/x-photoshop", "application/pdf", "image/jpeg"],
    ]);
    const links = (await copied(page, page.getByRole("button", { name: "Copy all links" }))).split("\n");
    expect(links).toHaveLength(7);
    const pictures = page.locator(".entry .thumbnail img");
    await eventually(() => pictures.count()).toBe(7);
    await eventually(() =>
      pictures.evaluateAll((all) => all.every((img) => (img as HTMLImageElement).naturalWidth > 0)),
    ).toBe(true);
  });
});

test("the page accepts files dropped anywhere and pasted pictures, but not pasted text", async () => {
  await onPage(async (page) => {
    await hand(page, "drop", { name: "dropped.jpg", type: "image/jpeg", bytes: shared.photo });
    await entryOf(page, "dropped.jpg").getByRole("button", { name: "Copy link" }).waitFor();
    await hand(page, "paste", { name: "image.png", type: "image/png", bytes: await pngPhoto(60, 40) });
    const pasted = page.locator(".entry").first();
    await eventually(() => pasted.locator(".title").textContent()).toMatch(
      /^pasted \d{4}-\d\d-\d\d .*\.png$/,
    );
    expect(await recordAt(shared.site, await linkOf(pasted))).toMatchObject({ type: "image/png", width: 60 });
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "no picture");
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    });
    expect(await page.locator(".entry").count()).toBe(2);
  });
});

test.each([
  ["a link", "text/uri-list", "https://example.com/boat.jpg"],
  ["a text", "text/plain", "A boat at dusk"],
])("a drop of %s shows a hint, and one into a field does not", async (_, type, text) => {
  await onPage(async (page) => {
    const drop = (selector: string) =>
      page.evaluate(
        ([place, kind, value]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.setData(kind, value);
          const event = (name: string) =>
            new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer });
          const target = document.querySelector(place) as Element;
          target.dispatchEvent(event("dragover"));
          return target.dispatchEvent(event("drop"));
        },
        [selector, type, text] as const,
      );
    // The browser inserts the text itself unless the event is cancelled.
    expect(await drop("input:not([type=file], [readonly])")).toBe(true);
    expect(await page.locator(".advice").count()).toBe(0);
    expect(await drop("main")).toBe(false);
    await eventually(() => page.locator(".advice").textContent()).toMatch(/Drop the picture itself/);
    expect(await page.locator(".entry").count()).toBe(0);
  });
});

test("the copied addresses of an upload work", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const entry = entryOf(page, "boat.jpg");
    const press = async (name: string) => copied(page, await menuItem(entry, name));
    const link = await copied(page, entry.getByRole("button", { name: "Copy link" }));
    expect(link).toMatch(new RegExp(`^${shared.site.base}/[\\w-]{22}/view$`));
    const { url, id } = await recordAt(shared.site, link);
    expect((await fetch(link)).headers.get("content-type")).toContain("text/html");

    const address = await press("direct link");
    expect(address).toBe(`${shared.site.base}/api/images/${id}.jpg`);
    expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(shared.photo)).toBe(true);
    expect(await press("Markdown")).toBe(`[![boat.jpg](${address})](${url}/view)`);
    expect(await press("HTML")).toBe(`<a href="${url}/view"><img src="${address}" alt="boat.jpg"></a>`);
    expect(await press("BBCode")).toBe(`[url=${url}/view][img]${address}[/img][/url]`);

    const edit = await press("edit link");
    await entry.getByText("Anyone with the edit link can edit or delete the image.").waitFor();
    await page.goto(edit);
    await page.getByRole("button", { name: "Save changes" }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("boat.jpg");
  });
});

test("the next images get the chosen name and lifetime", async () => {
  await onPage(
    async (page) => {
      await page.getByLabel("Name (optional)").fill("Regatta");
      await page.getByLabel("Delete after").selectOption("7 days");
      await choose(page, boat(), { ...boat(), name: "other.jpg" });
      const first = await recordAt(shared.site, await linkOf(entryOf(page, "Regatta")));
      await recordAt(shared.site, await linkOf(entryOf(page, "Regatta (2)")));
      expect(Math.round((Date.parse(String(first.expiresAt)) - Date.now()) / DAY_MS)).toBe(7);

      await page.getByLabel("Delete after").selectOption("365 days");
      await choose(page, { ...boat(), name: "kept.jpg" });
      const kept = await recordAt(shared.site, await linkOf(entryOf(page, "kept.jpg")));
      expect(Date.parse(String(kept.expiresAt)) - Date.now()).toBeGreaterThan(364 * DAY_MS);

      await page.getByLabel("Delete after").selectOption("On a date…");
      const date = new Date(Date.now() + 3 * DAY_MS + 90 * 60_000).toISOString().slice(0, 16);
      await page.getByLabel("Delete on").fill(date);
      await choose(page, { ...boat(), name: "dated.jpg" });
      const dated = await recordAt(shared.site, await linkOf(entryOf(page, "dated.jpg")));
      expect(dated.expiresAt).toBe(`${date}:00.000Z`);
    },
    { timezoneId: "UTC" },
  );
});

test("the menu of a row opens and closes by keyboard, and the focus returns", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const more = page.getByRole("button", { name: "More for boat.jpg" });
    await more.press("Enter");
    const first = page.getByRole("button", { name: "Copy direct link" });
    await eventually(() => first.evaluate((item) => item === document.activeElement)).toBe(true);
    expect(await more.getAttribute("aria-expanded")).toBe("true");
    expect(await overflowsOf(page)).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await eventually(() => more.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await first.count()).toBe(0);
    const controls = page.locator("a[href], button, select, input:not([capture])");
    const shown = await controls.evaluateAll((all) => all.filter((each) => each.checkVisibility()).length);
    expect(shown).toBeLessThanOrEqual(10);
  });
});

test("the row says what is not kept of a file, at once and when a processed image is ready", async () => {
  for (const asyncAfterMs of [false, 0] as const) {
    await withSite({ asyncAfterMs }, async (own) => {
      await onUploadPage(own, async (page) => {
        await choose(page, { name: "steps.svg", mimeType: "image/svg+xml", buffer: labelledSvg }, boat());
        await entryOf(page, "steps.svg").getByText("Not kept: text in HTML").waitFor();
        await entryOf(page, "boat.jpg").getByRole("button", { name: "Copy link" }).waitFor();
        expect(await page.getByText("Not kept").count()).toBe(1);
      });
    });
  }
});

test("a page of a service that converts uploads WebP, AVIF, TIFF and HEIC, and each row names the type that its file had", async () => {
  await withSite({ convertUploads: ["webp", "avif", "tiff", "heic"] }, async (site) => {
    const photo = sharp(shared.photo);
    const files = {
      WebP: await photo.clone().webp().toBuffer(),
      AVIF: await photo.clone().avif({ effort: 0 }).toBuffer(),
      TIFF: await photo.clone().tiff().toBuffer(),
      HEIC: halvesHeic,
    };
    await onUploadPage(site, async (page) => {
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
        expect((await recordAt(site, await linkOf(row))).source).toBe(`image/${label.toLowerCase()}`);
      }
      expect(await entryOf(page, "notes.txt").textContent()).toContain(
        "Use PNG, JPEG, GIF, SVG, PSD, PDF, WebP, AVIF, TIFF, or HEIC.",
      );
      await page.reload();
      await entryOf(page, "boat.avif").getByText("from AVIF").waitFor();
    });
  });
});

test("the upload page has a description, and the same for link previews", async () => {
  const html = await (await fetch(`${shared.site.base}/`)).text();
  const content = (name: string) =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]+)">`).exec(html)?.[1];
  expect(content("description")).toMatch(/^[A-Z].{30,150}\.$/);
  expect(content("og:description")).toBe(content("description"));
  expect(content("og:title")).toBe(/<title>([^<]+)<\/title>/.exec(html)?.[1]?.replace(/ [–·|-] .*/, ""));
  expect([content("og:type"), content("og:site_name")]).toEqual(["website", expect.stringMatching(/\w/)]);
});

test("the upload page links to the API and to ShareX, and has a form without JavaScript", async () => {
  const response = await fetch(`${shared.site.base}/`);
  const html = await response.text();
  expect(html).toContain(`<a href="${shared.site.base}/api/openapi.json">`);
  expect(html).toContain(`<a href="${shared.site.base}/sharex.sxcu">`);
  expect(html).toContain(`<form method="post" enctype="multipart/form-data" action="${shared.site.base}/">`);
  expect(response.headers.get("content-security-policy")).not.toContain("unsafe");
});

/** Drops or pastes a file on an element below the page's content. */
function hand(
  page: Page,
  how: "drop" | "paste",
  file: { name: string; type: string; bytes: Buffer },
): Promise<void> {
  const base64 = file.bytes.toString("base64");
  return page.evaluate(
    ({ kind, name, type, text }) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name, { type }));
      const common = { bubbles: true, cancelable: true };
      const root = document.documentElement;
      if (kind === "paste") {
        root.dispatchEvent(new ClipboardEvent("paste", { ...common, clipboardData: transfer }));
        return;
      }
      root.dispatchEvent(new DragEvent("dragover", { ...common, dataTransfer: transfer }));
      root.dispatchEvent(new DragEvent("drop", { ...common, dataTransfer: transfer }));
    },
    { kind: how, name: file.name, type: file.type, text: base64 },
  );
}
