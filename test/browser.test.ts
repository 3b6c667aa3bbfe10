import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "./support/browser.ts";
import { flatPsd, jpegPhoto } from "./support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "./support/service.ts";

describe("in Chromium", () => {
  let site: Site;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let image: Created;

  beforeAll(async () => {
    site = await startSite();
    browser = await openBrowser();
    image = await upload(site, await jpegPhoto(1200, 800), "image/jpeg", { fileName: "Bucht & Boot.jpg" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test("the image URL shows the picture, its name, and who uploaded it", async () => {
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      // An icon for the whole site is the host's to have.
      if (!message.location().url.endsWith("/favicon.ico")) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(image.url);
    const picture = page.locator("img").first();
    await picture.waitFor();
    expect(
      await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth)),
    ).toBeGreaterThan(0);
    const text = await page.locator("body").textContent();
    expect(text).toContain("Bucht & Boot.jpg");
    expect(text).toContain("OutriggerTest");
    expect(text).toContain("1.0");
    expect(text).toMatch(/1200\D+800/);
    expect(await page.content()).not.toContain(image.pin);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test.each([320, 768, 1440])("the viewer fits a window %i wide", async (width) => {
    const page = await browser.context.newPage();
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${image.url}/view`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.close();
  });

  test("a PSD has a viewer without a broken picture", async () => {
    const { url } = await upload(site, flatPsd(), "image/x-photoshop", { fileName: "plan.psd" });
    const page = await browser.context.newPage();
    await page.goto(`${url}/view`);
    expect(await page.locator("body").textContent()).toContain("plan.psd");
    const broken = await page
      .locator("img")
      .evaluateAll((all) => all.filter((img) => !(img as HTMLImageElement).naturalWidth));
    expect(broken).toEqual([]);
    await page.close();
  });

  test("the edit page renames and deletes, without JavaScript, and sends the PIN to nobody", async () => {
    const mine = await upload(site, await jpegPhoto(100, 80), "image/jpeg", { name: "vorher" });
    const page = await browser.context.newPage();
    const referrers: (string | undefined)[] = [];
    page.on("request", (request) => referrers.push(request.headers().referer));
    await page.goto(mine.editUrl);
    await page.fill('input[name="name"]', "nachher");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.waitForURL(/done=update/);
    expect(await page.locator('[role="status"]').textContent()).not.toBe("");
    expect(await page.inputValue('input[name="name"]')).toBe("nachher");
    await page.check('input[name="confirm"]');
    await page.getByRole("button", { name: "Delete image" }).click();
    await page.waitForURL(/\/view$/);
    expect(await page.locator("body").textContent()).toContain("410");
    expect(referrers.filter((referrer) => referrer?.includes("pin="))).toEqual([]);
    await page.close();
  });

  test("a hostile SVG opened on its own runs no script and asks nobody for anything", async () => {
    const asked: string[] = [];
    const listener = createServer((req, res) => {
      asked.push(req.url ?? "");
      res.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const elsewhere = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const svg =
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
      width="100" height="100" onload="document.title='ran'; fetch('${elsewhere}/onload')">
      <style>@import url("${elsewhere}/css"); rect { fill: url("${elsewhere}/fill#a"); }</style>
      <script>document.title = 'ran'; new Image().src = '${elsewhere}/script'</script>
      <image xlink:href="${elsewhere}/image.png" width="10" height="10"/>
      <foreignObject width="50" height="50"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${elsewhere}/frame"/></foreignObject>
      <a href="javascript:document.title='ran'"><rect width="100" height="100"/></a>
      <animate attributeName="href" values="javascript:alert(1)"/></svg>`);
    const { id } = await upload(site, svg, "image/svg+xml");
    const page = await browser.context.newPage();
    for (const address of [addressOf(site, id, "svg"), `${site.base}/${id}/view`]) {
      await page.goto(address, { waitUntil: "networkidle" });
      expect(await page.title()).not.toBe("ran");
    }
    expect(asked).toEqual([]);
    await page.close();
    listener.close();
  });

  test("HTML hidden in a JPEG stays a picture", async () => {
    const polyglot = Buffer.concat([
      await jpegPhoto(50, 40),
      Buffer.from("<script>document.title='ran'</script>"),
    ]);
    const { id } = await upload(site, polyglot, "image/jpeg");
    const page = await browser.context.newPage();
    const response = await page.goto(addressOf(site, id, "jpg"));
    expect(response?.headers()["x-content-type-options"]).toBe("nosniff");
    expect(await page.evaluate(() => document.contentType)).toBe("image/jpeg");
    expect(await page.title()).not.toBe("ran");
    await page.close();
  });
});
