import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { type Host, serveHost } from "../support/listen.ts";
import { samplePdf } from "../support/pdf-samples.ts";
import { animatedGif, jpegPhoto, pngPhoto } from "../support/pictures.ts";
import { addressOf, type Site, startSite, upload } from "../support/service.ts";

const SHOWN_IN_PLACE = ["png", "jpg", "gif", "svg", "webp", "avif"];
const SCRIPT = "<script>document.title='ran'</script>";

let site: Site;
/** A server that must get no request. */
let elsewhere: Host;
let origin: string;
const asked: string[] = [];

beforeAll(async () => {
  elsewhere = await serveHost((req, res) => {
    asked.push(req.url ?? "");
    res.end();
  });
  ({ origin } = elsewhere);
  site = await startSite();
});
afterAll(async () => {
  await site.close();
  await elsewhere.close();
});
beforeEach(() => {
  asked.length = 0;
});

/** Opens an image in its viewer and on its own in every format, and expects that nothing happens. */
async function expectHarmless(id: string): Promise<void> {
  await withPage({}, async (page) => {
    const left: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(site.origin)) left.push(request.url());
    });
    page.on("dialog", (dialog) => {
      left.push(dialog.message());
      void dialog.dismiss();
    });
    for (const address of [
      `${site.base}/${id}`,
      ...SHOWN_IN_PLACE.map((format) => addressOf(site, id, format)),
    ]) {
      await page.goto(address);
      expect([address, await page.title()]).not.toEqual([address, "ran"]);
      expect([address, await page.evaluate(() => "ran" in window)]).toEqual([address, false]);
    }
    await page.waitForLoadState("networkidle");
    for (const format of ["psd", "pdf"])
      expect(await isDownload(page, addressOf(site, id, format))).toBe(true);
    expect([left, asked]).toEqual([[], []]);
  });
}

/** What a browser is given as a file it does not run. */
async function isDownload(page: Page, address: string): Promise<boolean> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    // A download ends the navigation.
    page.goto(address).catch(() => null),
  ]);
  await download.cancel();
  return true;
}

test("an SVG runs no script and sends no request", async () => {
  const ran = "document.title='ran'; window.ran=1";
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
    width="100" height="100" onload="${ran}; fetch('${origin}/onload')">
    <style>@import url("${origin}/css"); rect { fill: url("${origin}/fill#a"); }</style>
    <script>${ran}; new Image().src = '${origin}/script'</script>
    <script href="${origin}/script.js"/>
    <image xlink:href="${origin}/image.png" width="10" height="10" onerror="${ran}"/>
    <use href="${origin}/use.svg#a"/>
    <foreignObject width="50" height="50"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${origin}/frame"/>
      <meta xmlns="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0;url=${origin}/refresh"/></foreignObject>
    <a href="javascript:${ran}"><rect width="100" height="100"/></a>
    <animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onmouseover" to="${ran}"/></svg>`;
  await expectHarmless((await upload(site, Buffer.from(svg), "image/svg+xml")).id);
});

test.each([
  ["JPEG", "image/jpeg", () => jpegPhoto(50, 40)],
  ["PNG", "image/png", () => pngPhoto(50, 40)],
  ["GIF", "image/gif", () => animatedGif(2, 50, 40)],
] as const)("HTML behind a %s stays what it is", async (_, type, picture) => {
  const html = Buffer.from(`<html><body>${SCRIPT}<img src="${origin}/x"></body></html>`);
  const { id } = await upload(site, Buffer.concat([await picture(), html]), type, { fileName: "x.html" });
  await expectHarmless(id);
  const original = await fetch(`${site.base}/${id}`, { headers: { Accept: type } });
  expect(original.headers.get("content-type")).toBe(type);
  expect(original.headers.get("x-content-type-options")).toBe("nosniff");
});

test("HTML in the comment of a JPEG, and a GIF that is a script too, stay pictures", async () => {
  const jpeg = await jpegPhoto(50, 40);
  const text = Buffer.from(`--><html>${SCRIPT}`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length + 2);
  const commented = Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.from([0xff, 0xfe]),
    length,
    text,
    jpeg.subarray(2),
  ]);
  await expectHarmless((await upload(site, commented, "image/jpeg")).id);
  const gif = await upload(
    site,
    Buffer.concat([await animatedGif(2, 50, 40), Buffer.from("*/=1;document.title='ran'")]),
    "image/gif",
  );
  await withPage({}, async (page) => {
    await page.goto(`${site.origin}/host`);
    const loaded = await page.evaluate(
      (src) =>
        new Promise((resolve) => {
          const script = document.createElement("script");
          script.onload = () => resolve("ran");
          script.onerror = () => resolve("refused");
          script.src = src;
          document.head.append(script);
        }),
      addressOf(site, gif.id, "gif"),
    );
    expect(loaded).toBe("refused");
  });
});

test("a PDF with JavaScript, links and forms that post is pictures, and otherwise a file to download", async () => {
  const script = "/S/JavaScript/JS(app.alert\\('ran'\\); this.submitForm\\('ORIGIN/js'\\))".replace(
    "ORIGIN",
    origin,
  );
  const pdf = samplePdf(
    [
      {
        entries: `/AA<</O<<${script}>>>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 60 40]/A<</S/URI/URI(${origin}/link)>>>>]`,
      },
    ],
    [],
    { catalogue: `/OpenAction<<${script}>>/Names<</JavaScript<</Names[(a)<<${script}>>]>>>>` },
  );
  await expectHarmless((await upload(site, pdf, "application/pdf")).id);
});

test("a hostile name is shown as it is", async () => {
  const names = [
    SCRIPT,
    '"><img src=x onerror="document.title=1">',
    "javascript:alert(1)",
    "</title></textarea></style><svg onload=alert(1)>",
    "{{7*7}}#{7*7}<%= 7*7 %>",
    "x](https://elsewhere.example) [y",
  ];
  const picture = await jpegPhoto(50, 40);
  await withPage({}, async (page) => {
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const plain = await upload(site, picture, "image/jpeg", { name: "plain.jpg" });
    const pictures = { editUrl: 0, url: 0 };
    for (const address of ["editUrl", "url"] as const) {
      await page.goto(plain[address]);
      pictures[address] = await page.locator("main img").count();
    }
    for (const name of names) {
      const image = await upload(site, picture, "image/jpeg", { name });
      for (const address of ["editUrl", "url"] as const) {
        await page.goto(image[address]);
        expect(await page.locator("h1").textContent()).toBe(name);
        expect(await page.title()).toContain(name);
        expect(await page.locator("main img").count()).toBe(pictures[address]);
      }
      expect(await page.locator(".stage img").getAttribute("alt")).toBe(name);
      // What the snippet makes elsewhere is the same picture, with the name as its text.
      const snippet = await page.getByLabel("HTML", { exact: true }).inputValue();
      const made = await page.evaluate((markup) => {
        const parsed = new DOMParser().parseFromString(markup, "text/html").body;
        return [parsed.querySelectorAll("*").length, parsed.querySelector("img")?.alt];
      }, snippet);
      expect(made).toEqual([2, name]);
    }
    expect(dialogs).toEqual([]);
  });
});
