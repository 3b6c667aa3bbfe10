import { type ApiDocument, createApiDescription } from "@outrigger/core";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestLookup, type TestLookup } from "../lookup/lookup-site.ts";
import { axeFaults } from "../support/axe-faults.ts";
import { openBrowser } from "../support/chromium.ts";
import { startHost } from "../support/hosts.ts";
import type { Host } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";

/** Images and lookup under one base path, with one OpenAPI document. */
interface Both extends Host {
  site: Site;
  made: TestLookup;
  document: ApiDocument;
}

async function startBoth(): Promise<Both> {
  const site = await startSite();
  const made = await createTestLookup();
  const description = createApiDescription([site.images, made.lookup]);
  const services = [description, site.images, made.lookup];
  const host = await startHost("Express 5", {
    async handle(call) {
      for (const service of services) {
        const reply = await service.handle(call);
        if (reply !== undefined) return reply;
      }
      return undefined;
    },
  });
  const document = (await (await fetch(`${host.base}/api/openapi.json`)).json()) as ApiDocument;
  return {
    ...host,
    ...{ site, made, document },
    async close() {
      await host.close();
      await site.close();
      await made.lookup.close();
    },
  };
}

describe("the API reference page in Chromium", () => {
  let both: Both;
  let browser: Awaited<ReturnType<typeof openBrowser>>;

  beforeAll(async () => {
    [both, browser] = await Promise.all([startBoth(), openBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await both.close();
  });

  interface Opened {
    page: Page;
    /** Console messages, and requests to other origins. */
    complaints: string[];
  }

  async function open(place = "", width = 1280): Promise<Opened> {
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      // The host, not the service, serves the site's favicon.
      const isIcon = message.location().url.endsWith("/favicon.ico");
      if (!isIcon && ["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      const url = new URL(request.url());
      const isOwn = url.origin === both.origin || url.protocol === "blob:" || url.protocol === "data:";
      if (!isOwn) complaints.push(`asked ${url.href}`);
    });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${both.base}/api${place}`);
    return { page, complaints };
  }

  /** Opens an operation as a link to it does. */
  async function openOperation(method: string, path: string): Promise<Opened & { panel: Locator }> {
    const opened = await open(`#?route=${method}-${path}`);
    const panel = opened.page.locator("api-request").first();
    await panel.waitFor();
    return { ...opened, panel };
  }

  test("the API reference lists every operation of both services except HEAD", async () => {
    const { page, complaints } = await open();
    const items = page.locator('.nav-bar-path[id^="link-"][id*="-/"]');
    const summaries = Object.values(both.document.paths).flatMap((path) =>
      [path.get, path.post, path.patch, path.delete].flatMap((each) => each?.summary ?? []),
    );
    expect(summaries.length).toBeGreaterThanOrEqual(30);
    await expect.poll(() => items.count(), { timeout: 15_000 }).toBe(summaries.length);
    const shown = (await items.allTextContents()).map((each) => each.trim());
    expect(shown.sort()).toEqual([...summaries].sort());
    const groups = await page.locator(".nav-bar-tag").allTextContents();
    expect(groups.map((each) => each.replace("▾", "").trim())).not.toContain("Headers only");
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("the API reference can upload a picture and shows the response", async () => {
    const { page, complaints, panel } = await openOperation("post", "/api/images.json");
    await panel.locator('input[type="file"]').setInputFiles({
      name: "Bucht.jpg",
      mimeType: "image/jpeg",
      buffer: await jpegPhoto(80, 60),
    });
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await panel.locator(".btn-execute").click();
    const response = await answered;
    expect(await response.text()).toContain('"name":"Bucht.jpg"');
    expect(response.status()).toBe(201);
    await panel.getByText("editUrl").first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("the API reference can send a lookup request with an API key", async () => {
    const { page, complaints, panel } = await openOperation("get", "/v2/email-count");
    await panel.locator('input[data-pname="domain"]').fill("example.com");
    const answered = page.waitForResponse((response) => response.url().includes("/v2/email-count"));
    await panel.locator(".btn-execute").click();
    const response = await answered;
    expect(response.url()).toBe(`${both.base}/v2/email-count?domain=example.com`);
    expect(response.status()).toBe(200);
    await panel.getByText("personal_emails").first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
  test.each(["", "#?route=post-/api/images.json", "#?route=tag--Images"])(
    "the API reference at '%s' has one main, one h1 and no accessibility fault, in light and in dark",
    async (place) => {
      const { page } = await open(place);
      await page.locator(".nav-bar-path").first().waitFor();
      expect(await page.getByRole("main").count()).toBe(1);
      expect(await page.locator('h1:not([aria-level="2"])').allTextContents()).toEqual(["API"]);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        // Colours change gradually.
        await expect.poll(() => axeFaults(page), { timeout: 20_000, message: colorScheme }).toEqual([]);
      }
      await page.close();
    },
  );
  test("without JavaScript, the API reference links to the OpenAPI document", async () => {
    const response = await fetch(`${both.base}/api`);
    expect(await response.text()).toContain(
      `<noscript><p>Turn on JavaScript to read this page. For developers: <a href="${both.base}/api/openapi.json">`,
    );
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).not.toContain("unsafe-eval");
    expect(/script-src [^;]*unsafe-inline/.test(policy)).toBe(false);
  });
});
