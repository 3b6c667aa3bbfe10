import { describe, expect, test } from "vitest";
import {
  type Answer,
  created,
  createSite,
  eventually,
  type ImageSite,
  keysOf,
} from "../../../test/image-site.ts";
import { textPages } from "../../../test/text-pages.ts";
import { ServiceError } from "../../errors.ts";

const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const BROWSER = { accept: "text/html,application/xhtml+xml,image/avif,*/*;q=0.8" };

/** A site with an image that stays in processing until the test ends it. */
async function processingSite(): Promise<{ site: ImageSite; id: string; pin: string }> {
  const site = createSite({ asyncAfterMs: 0, pages: textPages });
  return { site, ...created(await site.create()) };
}

async function finish(site: ImageSite): Promise<void> {
  (await site.renderer.next()).accept();
  await eventually(async () => expect(await keysOf(site.store)).toHaveLength(2));
}

async function refuse(site: ImageSite): Promise<void> {
  (await site.renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  await eventually(async () => expect(await keysOf(site.store)).toHaveLength(1));
}

function readAddresses(id: string): string[] {
  return [...["json", ...FORMATS].map((suffix) => `/api/images/${id}.${suffix}`), `/${id}`, `/${id}/view`];
}

describe("while an image is processed", () => {
  test("every address answers 202 with the record and Retry-After", async () => {
    const { site, id } = await processingSite();
    for (const path of readAddresses(id)) {
      const answer = await site.send("GET", path);
      expect([path, answer.status]).toEqual([path, 202]);
      expect(answer.headers).toMatchObject({
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
        "Retry-After": "1",
      });
      expect(answer.json).toMatchObject({ id, status: "processing", width: null });
      expect(answer.json).not.toHaveProperty("pin");
    }
    await finish(site);
    expect(await site.send("GET", `/api/images/${id}.json`)).toMatchObject({ status: 200 });
  });

  test("HEAD answers with the headers of GET and no body", async () => {
    const { site, id } = await processingSite();
    for (const path of readAddresses(id)) {
      const { headers } = await site.send("GET", path);
      expect(await site.send("HEAD", path)).toEqual({ status: 202, headers, text: "", json: {} });
    }
  });

  test("conditions and ranges do not change the 202", async () => {
    const { site, id } = await processingSite();
    for (const headers of [
      { "if-none-match": "*" },
      { "if-match": '"other"' },
      { "if-modified-since": new Date(site.clock.now + 86_400_000).toUTCString() },
      { range: "bytes=0-1" },
    ]) {
      for (const path of readAddresses(id)) {
        expect((await site.send("GET", path, { headers })).status).toBe(202);
      }
    }
  });

  test("a browser gets a page that reloads itself", async () => {
    const { site, id } = await processingSite();
    for (const path of [`/${id}`, `/${id}/view`, `/api/images/${id}.png`]) {
      const answer = await site.send("GET", path, { headers: BROWSER });
      expect([path, answer.status]).toEqual([path, 202]);
      expect(answer.headers).toMatchObject({
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": "default-src 'none'",
        "Cache-Control": "no-store",
        "Retry-After": "1",
        Refresh: "1",
      });
      expect(answer.text).toMatch(/^202 Processing: /);
    }
    const record = await site.send("GET", `/api/images/${id}.json`, { headers: BROWSER });
    expect(record.headers["Content-Type"]).toBe("application/json; charset=utf-8");
    await finish(site);
    expect((await site.send("GET", `/${id}`, { headers: BROWSER })).text).toBe("viewer of picture.png");
  });

  test("Retry-After grows with the time since the upload, up to 30 s", async () => {
    const { site, id } = await processingSite();
    const retryAfter = async () => (await site.send("GET", `/${id}`)).headers["Retry-After"];
    site.clock.now += 14_000;
    expect(await retryAfter()).toBe("3");
    site.clock.now += 3_600_000;
    expect(await retryAfter()).toBe("30");
  });

  test("PATCH and the edit form answer 409", async () => {
    const { site, id, pin } = await processingSite();
    const change = { name: "other", pin };
    const patched = await site.send("PATCH", `/api/images/${id}.json`, { fields: change });
    expect(patched).toMatchObject({ status: 409, json: { detail: expect.stringContaining("processed") } });
    const posted = await site.send("POST", `/${id}/edit`, { fields: { ...change, action: "update" } });
    expect([posted.status, posted.text]).toEqual([409, expect.stringContaining("still being processed")]);
    const wrongPin = await site.send("PATCH", `/api/images/${id}.json`, { fields: { name: "x", pin: "no" } });
    expect(wrongPin.status).toBe(403);
    await finish(site);
    const again = await site.send("PATCH", `/api/images/${id}.json`, { fields: change });
    expect(again).toMatchObject({ status: 200, json: { name: "other", status: "ready" } });
  });

  test("the edit page opens with a notice, and without links to formats", async () => {
    const { site, id, pin } = await processingSite();
    const page = await site.send("GET", `/${id}/edit`, { search: `pin=${pin}` });
    expect([page.status, page.text]).toEqual([200, expect.stringMatching(/, 0 links\..*still processing/)]);
  });

  test.each(["by its record", "by the form"])(
    "the image can be deleted %s, which aborts its processing",
    async (how) => {
      const { site, id, pin } = await processingSite();
      const { signal } = await site.renderer.next();
      const removed =
        how === "by its record"
          ? await site.send("DELETE", `/api/images/${id}.json`, { fields: { pin } })
          : await site.send("POST", `/${id}/edit`, { fields: { pin, action: "delete", confirm: "on" } });
      expect(removed.status).toBe(how === "by its record" ? 204 : 303);
      expect(signal?.aborted).toBe(true);
      for (const path of readAddresses(id)) expect((await site.send("GET", path)).status).toBe(410);
      await eventually(async () => expect(await keysOf(site.store)).toEqual([`${id}/record`]));
      expect(site.errors).toEqual([]);
    },
  );
});

describe("after processing has failed", () => {
  test("every address answers 404 with the reason, even after the expiry", async () => {
    const { site, id, pin } = await processingSite();
    await refuse(site);
    expect(await keysOf(site.store)).toEqual([`${id}/record`]);
    const expectReason = (answer: Answer) =>
      expect(answer).toMatchObject({
        status: 404,
        headers: { "Content-Type": "application/problem+json; charset=utf-8", "Cache-Control": "no-store" },
        json: { status: 404, title: "Not Found", detail: "Its pixels end early." },
      });
    for (const path of readAddresses(id)) expectReason(await site.send("GET", path));
    expectReason(await site.send("GET", `/${id}/edit`, { search: `pin=${pin}` }));
    for (const method of ["PATCH", "DELETE"]) {
      expectReason(await site.send(method, `/api/images/${id}.json`, { fields: { pin, name: "x" } }));
    }
    site.clock.now += 86_400_000;
    expectReason(await site.send("GET", `/api/images/${id}.json`));
  });

  test("a browser gets the reason as a page", async () => {
    const { site, id } = await processingSite();
    await refuse(site);
    const answer = await site.send("GET", `/${id}`, { headers: BROWSER });
    expect([answer.status, answer.text]).toEqual([404, "404 Not Found: Its pixels end early."]);
  });
});
