import request from "supertest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOST_NAMES } from "./support/hosts.ts";
import { svgDrawing } from "./support/pictures.ts";
import { startSite, withSite } from "./support/quick-site.ts";
import { postImage, type Site, upload } from "./support/service.ts";

describe("expiry and limits", () => {
  test("a file over maxUploadBytes answers 413 and closes the connection", async () => {
    const site = await startSite({ maxUploadBytes: 10_000 });
    try {
      const response = await postImage(site, Buffer.alloc(200_000, 0xff), "image/jpeg");
      expect(response.status).toBe(413);
      expect(response.headers.get("connection")).toBe("close");
    } finally {
      await site.close();
    }
  });
});

describe("requests that the service refuses", () => {
  let site: Site;
  let id: string;
  beforeAll(async () => {
    site = await startSite();
    ({ id } = await upload(site, svgDrawing, "image/svg+xml"));
  });
  afterAll(() => site.close());

  test.each([
    ["GET", "/api/images.json", 405, "POST, OPTIONS"],
    ["PUT", "/api/images.json", 405, "POST, OPTIONS"],
    ["POST", "/api/images/ID.json", 405, "GET, HEAD, PATCH, DELETE, OPTIONS"],
    ["DELETE", "/api/images/ID.png", 405, "GET, HEAD, OPTIONS"],
    ["PUT", "/ID/edit", 405, "GET, HEAD, POST, OPTIONS"],
    ["OPTIONS", "/api/images/ID.json", 204, "GET, HEAD, PATCH, DELETE, OPTIONS"],
    ["POST", "/api/images.xml", 415, undefined],
    ["GET", "/api/images/ID.bmp", 415, undefined],
    ["GET", "/api/images/ID", 404, undefined],
    ["GET", "/api/images", 404, undefined],
    ["GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.png", 404, undefined],
    ["GET", "/api/images/..%2f..%2fsecret.json", 404, undefined],
    ["GET", "/api/images/ID.json/", 200, undefined],
  ])("%s %s answers %i", async (method, path, status, allow) => {
    const response = await request(site.base)[method.toLowerCase() as "get"](path.replace("ID", id));
    expect(response.status).toBe(status);
    expect(response.headers.allow).toBe(allow);
  });

  test("a request that did not arrive over SSL answers 403, unless it comes from the same machine", async () => {
    for (const [tls, headers, status] of [
      ["required", {}, 200],
      ["required", { "X-Forwarded-For": "203.0.113.7" }, 403],
      ["required", { Via: "1.1 proxy" }, 403],
      ["always", {}, 403],
      ["off", { "X-Forwarded-For": "203.0.113.7" }, 200],
    ] as const) {
      const strict = await startSite({ tls, host: "Koa 3" });
      try {
        const probe = await fetch(`${strict.base}/api/images.json`, { method: "OPTIONS", headers });
        expect([tls, headers, probe.status]).toEqual([tls, headers, status === 200 ? 204 : status]);
        if (status === 403) expect(((await probe.json()) as { detail: string }).detail).toContain("SSL");
      } finally {
        await strict.close();
      }
    }
  });

  test("a Host header outside allowedHosts answers 400, and image addresses begin with publicUrl", async () => {
    const strict = await startSite({
      allowedHosts: ["pictures.example"],
      publicUrl: "https://pictures.example/p/",
    });
    try {
      expect((await fetch(`${strict.base}/api/images.json`, { method: "OPTIONS" })).status).toBe(400);
      const response = await request(strict.base)
        .post("/api/images.txt")
        .set("Host", "pictures.example")
        .set("User-Agent", "x")
        .attach("imagedata", svgDrawing, { filename: "a.svg", contentType: "image/svg+xml" });
      expect(response.text).toMatch(/^https:\/\/pictures\.example\/p\/[\w-]{22}\n$/);
    } finally {
      await strict.close();
    }
  });

  test("a path that only resembles an ID is left to the host, for every method and without SSL", async () => {
    await withSite({ tls: "always" }, async (strict) => {
      // 22 characters, the length of an ID.
      const slug = "/terms-and-conditions-1";
      for (const path of [slug, `${slug}/other`, "/users/view", "/users/edit"]) {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
          const { status, headers } = await fetch(`${strict.base}${path}`, { method });
          expect([method, path, status, headers.get("allow")]).toEqual([method, path, 404, null]);
        }
      }
      expect((await fetch(`${strict.base}${slug}/view`)).status).toBe(403);
    });
  });
});

describe.each(HOST_NAMES.flatMap((host) => ["/img", ""].map((mountPath) => ({ host, mountPath }))))(
  "a dead link in $host below $mountPath/",
  ({ host, mountPath }) => {
    test("answers a page to browsers and a problem to others, however its image ended", async () => {
      let now = Date.now();
      const options = { host, mountPath, tombstoneDays: 0, errors: "host", now: () => now } as const;
      await withSite(options, async (site) => {
        const add = () => upload(site, svgDrawing, "image/svg+xml");
        const [swept, expired, withheld] = [await add(), await add(), await add()];
        await site.images.remove(swept.id);
        await site.images.sweep();
        await site.images.withhold(withheld.id, { reason: "A court decided so." });
        now += 25 * 3_600_000;
        const unknown = "A".repeat(22);
        for (const id of [
          swept.id,
          expired.id,
          withheld.id,
          unknown,
          unknown.toLowerCase(),
          `${unknown}A`,
          unknown.slice(1),
        ]) {
          for (const page of ["view", "edit?pin=9WJSY4P46CNKA0GY", "report"]) {
            const address = `${site.base}/${id}/${page}`;
            const shown = await fetch(address, { headers: { accept: "text/html,*/*;q=0.8" } });
            expect([address, shown.status, await shown.text()]).toEqual([
              address,
              404,
              expect.stringContaining("Page not found"),
            ]);
            const told = await fetch(address);
            const type = "application/problem+json; charset=utf-8";
            expect([told.status, told.headers.get("content-type")]).toEqual([404, type]);
            const head = await fetch(address, { method: "HEAD" });
            expect([head.status, head.headers.get("content-type")]).toEqual([404, type]);
          }
          const put = await fetch(`${site.base}/${id}/view`, { method: "PUT" });
          expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
        }
        const bare = await fetch(`${site.base}/${unknown}`, { headers: { accept: "text/html" } });
        expect([bare.status, await bare.text()]).toEqual([
          404,
          expect.not.stringContaining("Page not found"),
        ]);
      });
    });
  },
);

test("without pages, a dead link answers 404 or 410 as a problem", async () => {
  await withSite({ pages: false }, async (site) => {
    const { id } = await upload(site, svgDrawing, "image/svg+xml");
    await site.images.remove(id);
    for (const [address, status] of [
      [`${id}/view`, 410],
      [`${id}/edit`, 410],
      [`${"A".repeat(22)}/view`, 404],
      [`${"A".repeat(22)}/edit`, 404],
      [`${"A".repeat(21)}/report`, 404],
    ] as const) {
      const answer = await fetch(`${site.base}/${address}`, { headers: { accept: "text/html" } });
      expect([address, answer.status, Object(await answer.json()).status]).toEqual([address, status, status]);
    }
  });
});
