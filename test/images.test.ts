import request from "supertest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpegPhoto, pngPhoto, svgDrawing } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { addressOf, type Created, postImage, type Site, upload } from "./support/service.ts";

const ID = /^[A-Za-z0-9_-]{22}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a photograph", () => {
  let site: Site;
  let photo: Buffer;

  beforeAll(async () => {
    site = await startSite();
    photo = await jpegPhoto(1200, 900);
  });
  afterAll(() => site.close());

  test("POST answers 201 with the record and every documented header", async () => {
    const response = await request(site.origin)
      .post("/img/api/images.json")
      .set("User-Agent", "curl/8.5.0 (x86_64)")
      .attach("imagedata", photo, { filename: "Ferien — Sommer.jpg", contentType: "image/jpeg" });
    expect(response.status).toBe(201);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    const { id, pin, editUrl, url, ...record } = response.body;
    expect(id).toMatch(ID);
    expect(pin).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    expect(url).toBe(`${site.base}/${id}`);
    expect(editUrl).toBe(`${site.base}/${id}/edit?pin=${pin}`);
    expect(response.headers).toMatchObject({
      location: url,
      "x-service-image-url": url,
      "x-service-image-edit-url": editUrl,
      "x-service-image-pin": pin,
      "x-service-image-id": id,
      "cache-control": "no-store",
    });
    expect(response.headers.link).toContain(`<${site.base}/api/images/${id}.json>; rel="describedby"`);
    expect(response.headers.link).toContain(
      `<${site.base}/api/images/${id}.png>; rel="alternate"; type="image/png"`,
    );
    expect(response.headers.link).toContain(`<${editUrl}>; rel="edit-form"`);
    expect(record).toEqual({
      name: "Ferien — Sommer.jpg",
      type: "image/jpeg",
      source: null,
      warnings: [],
      size: photo.length,
      width: 1200,
      height: 900,
      pages: 1,
      placeholder: expect.stringMatching(/^[A-Za-z0-9+/]{20,36}={0,2}$/),
      color: expect.stringMatching(/^#[0-9a-f]{6}$/),
      focus: null,
      description: null,
      provenance: null,
      status: "ready",
      agent: { name: "curl", version: "8.5.0" },
      createdAt: expect.stringMatching(ISO),
      updatedAt: record.createdAt,
      expiresAt: new Date(Date.parse(record.createdAt) + 86_400_000).toISOString(),
      links: Object.fromEntries(
        ["json", "png", "jpg", "gif", "svg", "psd", "pdf"].map((suffix) => [
          suffix,
          addressOf(site, id, suffix),
        ]),
      ),
    });
  });

  test("POST to images.txt answers 201 with the image URL as plain text", async () => {
    const response = await postImage(site, photo, "image/jpeg", { name: "Nom" }, "txt");
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe(`${response.headers.get("location")}\n`);
  });

  test("DELETE without the right PIN answers 403 and keeps the image; with it 204, and then every address answers 410", async () => {
    const { id, pin } = await upload(site, photo, "image/jpeg");
    expect((await fetch(addressOf(site, id, "json"), { method: "DELETE" })).status).toBe(403);
    expect(
      (await fetch(`${addressOf(site, id, "json")}?pin=${"0".repeat(16)}`, { method: "DELETE" })).status,
    ).toBe(403);
    expect((await fetch(addressOf(site, id, "jpg"))).status).toBe(200);
    expect((await fetch(`${addressOf(site, id, "json")}?pin=${pin}`, { method: "DELETE" })).status).toBe(204);
    for (const address of ["json", "jpg", "png"].map((suffix) => addressOf(site, id, suffix))) {
      expect((await fetch(address)).status).toBe(410);
    }
    expect((await fetch(`${site.base}/${id}`)).status).toBe(410);
    expect((await fetch(`${addressOf(site, id, "json")}?pin=${pin}`, { method: "DELETE" })).status).toBe(410);
  });

  test("requests that are not for the service reach the host's own routes", async () => {
    expect(await (await fetch(`${site.origin}/host`)).text()).toBe("the host's own");
    expect((await fetch(`${site.base}/AAAAAAAAAAAAAAAAAAAAAA`)).status).toBe(404);
    expect((await fetch(`${site.base}/unknown`)).status).toBe(404);
  });

  test("no request in these tests reported an error to onError", () => {
    expect(site.errors).toEqual([]);
  });
});

describe("the record of an image", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  });
  afterAll(() => site.close());

  test("convert=auto answers 400 for a JPEG", async () => {
    const { id } = await upload(site, await jpegPhoto(), "image/jpeg");
    expect((await fetch(`${addressOf(site, id, "jpg")}?convert=auto`)).status).toBe(400);
  });

  test("GET returns the record and 304 for its ETag; PATCH edits it and answers 412 for a stale ETag", async () => {
    const { id, pin } = await upload(site, await pngPhoto(), "image/png", { fileName: "a.png" });
    const first = await fetch(addressOf(site, id, "json"));
    const record = (await first.json()) as Created;
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(record).not.toHaveProperty("pin");
    expect(record).not.toHaveProperty("editUrl");
    expect(record).toMatchObject({ id, name: "a.png", width: 400, height: 300, status: "ready" });
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(addressOf(site, id, "json"), { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);

    const expiresAt = Date.now() + 3_600_000;
    const patched = await request(site.base)
      .patch(`/api/images/${id}.json`)
      .set("X-Service-Image-Pin", pin)
      .set("If-Match", etag)
      .send({ name: "neu", expiresAt });
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({ id, name: "neu", expiresAt: new Date(expiresAt).toISOString() });
    expect(Date.parse(patched.body.updatedAt)).toBeGreaterThan(Date.parse(String(record.createdAt)));
    const stale = await request(site.base)
      .patch(`/api/images/${id}.json`)
      .set("If-Match", etag)
      .send({ name: "verloren", pin });
    expect(stale.status).toBe(412);
    expect(((await (await fetch(addressOf(site, id, "json"))).json()) as Created).name).toBe("neu");
  });

  test("PATCH takes JSON, a form or the query, and refuses a missing PIN, no change and bad values with a problem", async () => {
    const { id, pin } = await upload(site, await pngPhoto(), "image/png");
    const path = `/api/images/${id}.json`;
    const patch = (body: string | object, type = "application/json", query = "") =>
      request(site.base)
        .patch(path + query)
        .set("Content-Type", type)
        .send(body);
    expect((await patch({ name: "json", pin })).body.name).toBe("json");
    expect((await patch(`name=form&pin=${pin}`, "application/x-www-form-urlencoded")).body.name).toBe("form");
    expect((await patch({ pin }, "application/json", "?name=query")).body.name).toBe("query");
    expect((await patch({ name: "body", pin }, "application/json", "?name=query")).body.name).toBe("body");
    for (const [body, status] of [
      [{ name: "x" }, 403],
      [{ name: "x", pin: "0000000000000000" }, 403],
      [{ name: "x", pin: 5 }, 403],
      [{ pin }, 400],
      [{ pin, name: "" }, 400],
      [{ pin, name: 5 }, 400],
      [{ pin, name: "x".repeat(256) }, 400],
      [{ pin, expiresAt: "gestern" }, 400],
      [{ pin, expiresAt: 1 }, 400],
      [{ pin, expiresAt: Date.now() + 400 * 86_400_000 }, 400],
      ["{", 400],
      ["[]", 400],
      [{ pin, name: "x", filler: "x".repeat(20_000) }, 413],
    ] as const) {
      const response = await patch(body);
      expect([JSON.stringify(body).slice(0, 60), response.status]).toEqual([
        JSON.stringify(body).slice(0, 60),
        status,
      ]);
      expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(response.body).toMatchObject({
        type: "about:blank",
        status,
        title: expect.any(String),
        detail: expect.any(String),
      });
    }
  });
});

test("without pages the image URL serves the original, and the viewer and edit pages answer 501", async () => {
  const bare = await startSite({ pages: false });
  try {
    const headers = { Accept: "text/html,*/*;q=0.8" };
    const { url, editUrl } = await upload(bare, svgDrawing, "image/svg+xml");
    expect((await fetch(url, { headers })).headers.get("content-type")).toBe("image/svg+xml");
    for (const page of [`${url}/view`, editUrl]) expect((await fetch(page, { headers })).status).toBe(501);
  } finally {
    await bare.close();
  }
});
