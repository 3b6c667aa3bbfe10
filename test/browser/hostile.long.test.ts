import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { type Host, serveHost } from "../support/listen.ts";
import { samplePdf } from "../support/pdf-samples.ts";
import { animatedGif, jpegPhoto } from "../support/pictures.ts";
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
    for (const format of ["psd", "pdf"]) await expectDownload(page, addressOf(site, id, format));
    expect([left, asked]).toEqual([[], []]);
  });
}

/** Expects that a browser is given a file it does not run. */
async function expectDownload(page: Page, address: string): Promise<void> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    // A download ends the navigation.
    page.goto(address).catch(() => null),
  ]);
  await download.cancel();
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

test("a JPEG with HTML in its comment and after its end, and a GIF that is HTML and a script too, stay pictures", async () => {
  const html = Buffer.from(`--><html><body>${SCRIPT}<img src="${origin}/x"></body></html>`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(html.length + 2);
  const jpeg = await jpegPhoto(50, 40);
  const start = [jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe]), length, html];
  const gif = [await animatedGif(2, 50, 40), html, Buffer.from("*/=1;document.title='ran'")];
  for (const [type, parts] of [
    ["image/jpeg", [...start, jpeg.subarray(2), html]],
    ["image/gif", gif],
  ] as const) {
    const { id } = await upload(site, Buffer.concat(parts), type, { fileName: "x.html" });
    await expectHarmless(id);
    const original = await fetch(`${site.base}/${id}`, { headers: { Accept: type } });
    expect(original.headers.get("content-type")).toBe(type);
    expect(original.headers.get("x-content-type-options")).toBe("nosniff");
    await withPage({}, async (page) => {
      await page.goto(`${site.origin}/host`);
      const script = page.evaluate(
        (src) =>
          new Promise((resolve) => {
            const element = document.createElement("script");
            element.onload = () => resolve("ran");
            element.onerror = () => resolve("refused");
            element.src = src;
            document.head.append(element);
          }),
        addressOf(site, id, type === "image/gif" ? "gif" : "jpg"),
      );
      expect(await script).toBe("refused");
    });
  }
});

test("a PDF with JavaScript, links and forms that post is pictures, and otherwise a file to download", async () => {
  const script = `/S/JavaScript/JS(app.alert\\('ran'\\); this.submitForm\\('${origin}/js'\\))`;
  const link = `/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 60 40]/A<</S/URI/URI(${origin}/link)>>>>]`;
  const pdf = samplePdf([{ entries: `/AA<</O<<${script}>>>>${link}` }], [], {
    catalogue: `/OpenAction<<${script}>>/Names<</JavaScript<</Names[(a)<<${script}>>]>>>>`,
  });
  await expectHarmless((await upload(site, pdf, "application/pdf")).id);
});

test("a hostile name is shown as it is on the viewer, the edit page and in the snippet, and adds no element", async () => {
  const name = [
    SCRIPT,
    '"><img src=x onerror="document.title=1">',
    "</title></textarea></style><svg onload=alert(1)>",
    "{{7*7}}#{7*7}<%= 7*7 %>",
    "x](https://elsewhere.example) [y",
  ].join(" ");
  const picture = await jpegPhoto(50, 40);
  const [plain, hostile] = [
    await upload(site, picture, "image/jpeg", { name: "plain.jpg" }),
    await upload(site, picture, "image/jpeg", { name }),
  ];
  await withPage({}, async (page) => {
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const address of ["editUrl", "url"] as const) {
      await page.goto(plain[address]);
      const pictures = await page.locator("main img").count();
      await page.goto(hostile[address]);
      expect(await page.locator("h1").textContent()).toBe(name);
      expect(await page.title()).toContain(name);
      expect(await page.locator("main img").count()).toBe(pictures);
    }
    expect(await page.locator(".stage img").getAttribute("alt")).toBe(name);
    // What the snippet makes elsewhere is the same picture, with the name as its text.
    const snippet = await page.getByLabel("HTML", { exact: true }).inputValue();
    const made = await page.evaluate((markup) => {
      const parsed = new DOMParser().parseFromString(markup, "text/html").body;
      return [parsed.querySelectorAll("*").length, parsed.querySelector("img")?.alt];
    }, snippet);
    expect(made).toEqual([2, name]);
    expect(dialogs).toEqual([]);
  });
});
