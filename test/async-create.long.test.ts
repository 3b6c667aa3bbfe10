import { setTimeout as delay } from "node:timers/promises";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOST_NAMES, type HostName } from "./support/hosts.ts";
import { jpegPhoto, pngPhoto } from "./support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "./support/post-with-headers.ts";
import { addressOf, type Created, postImage, type Site, startSite } from "./support/service.ts";

const HTML = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** Asks again as `Retry-After` says, for as long as the answer is 202. */
async function poll(url: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 202) return response;
    await response.arrayBuffer();
    await delay(Number(response.headers.get("retry-after")) * 1000);
  }
}

describe.each(HOST_NAMES)("Prefer: respond-async through %s", (host: HostName) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ host });
  });
  afterAll(() => site.close());

  test("an upload with respond-async answers 202 and a URL that later serves the picture", async () => {
    const photo = await jpegPhoto(300, 200);
    const response = await postWithHeaders(site, photo, "image/jpeg", RESPOND_ASYNC);
    expect(response.status).toBe(202);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    expect(response.headers.get("retry-after")).toBe("1");
    const created = (await response.json()) as Created;
    expect(created).toMatchObject({ status: "processing", width: null });
    expect(response.headers.get("location")).toBe(created.url);
    const ready = await poll(created.url);
    expect(ready.status).toBe(200);
    expect(Buffer.from(await ready.arrayBuffer()).equals(photo)).toBe(true);
    const record = await fetch(addressOf(site, created.id, "json"));
    expect(await record.json()).toMatchObject({
      status: "ready",
      width: 300,
      height: 200,
      size: photo.length,
    });
    const png = await fetch(`${addressOf(site, created.id, "png")}?resize=30x`);
    expect((await sharp(Buffer.from(await png.arrayBuffer())).metadata()).width).toBe(30);
    expect(site.errors).toEqual([]);
  });

  test("a broken upload with respond-async leaves a URL that answers 404 with the reason", async () => {
    const whole = await pngPhoto();
    const response = await postWithHeaders(
      site,
      whole.subarray(0, whole.length / 2),
      "image/png",
      RESPOND_ASYNC,
    );
    expect(response.status).toBe(202);
    const { url, id } = (await response.json()) as Created;
    const failed = await poll(url);
    expect(failed.status).toBe(404);
    const { detail } = (await failed.json()) as { detail: string };
    expect(detail).toContain("image/png");
    for (const address of [addressOf(site, id, "json"), addressOf(site, id, "jpg"), `${url}/view`]) {
      const answer = await fetch(address);
      expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([404, detail]);
    }
    const page = await fetch(url, { headers: HTML });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  });
});

test("a slow upload answers 202, shows a page that reloads, and then the picture", async () => {
  const site = await startSite({ asyncAfterMs: 1, renderer: createRenderer({ workers: 1 }) });
  try {
    const side = 5000;
    const large = await sharp({ create: { width: side, height: side, channels: 3, background: "#369" } })
      .png()
      .toBuffer();
    const response = await postImage(site, large, "image/png");
    expect(response.status).toBe(202);
    expect(response.headers.get("preference-applied")).toBeNull();
    const { url, id } = (await response.json()) as Created;
    const page = await fetch(url, { headers: HTML });
    expect([page.status, page.headers.get("refresh")]).toEqual([202, "1"]);
    expect(await page.text()).toContain("Processing");
    const viewer = await poll(`${url}/view`, { headers: HTML });
    expect([viewer.status, viewer.headers.get("refresh")]).toEqual([200, null]);
    const record = await fetch(addressOf(site, id, "json"));
    expect(await record.json()).toMatchObject({ status: "ready", width: side, height: side });
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});
