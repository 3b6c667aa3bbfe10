import { describe, expect, test } from "vitest";
import { jpegPhoto } from "./support/pictures.ts";
import { addressOf, type Site, withSite } from "./support/service.ts";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8", "User-Agent": "Mozilla/5.0 (X11)" };

/** Sends the form of the upload page as a browser without JavaScript does. */
function send(site: Site, file: Blob, fields: Record<string, string> = {}, headers = {}): Promise<Response> {
  const form = new FormData();
  form.set("imagedata", file, "boat.jpg");
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const own = { Origin: site.origin, "Sec-Fetch-Site": "same-origin" };
  return fetch(`${site.base}/`, { method: "POST", body: form, headers: { ...BROWSER, ...own, ...headers } });
}

const jpeg = async () => new Blob([new Uint8Array(await jpegPhoto(90, 60))], { type: "image/jpeg" });

describe.each(["Express 5", "Express 4", "Koa 3", "Koa 2"] as const)("the upload form in %s", (host) => {
  test("stores the file, and answers a page whose links show, edit and delete it", async () => {
    await withSite({ host }, async (site) => {
      const sent = await send(site, await jpeg(), { name: "Boat <1>", expiresIn: "3600000" });
      expect([sent.status, sent.headers.get("cache-control")]).toEqual([201, "no-store"]);
      const html = await sent.text();
      expect(html).toContain("Boat &lt;1&gt;");
      const editUrl = /value="(http[^"]+\/edit\?pin=[^"]+)"/.exec(html)?.[1] ?? "";
      const [, id = "", pin = ""] = /([\w-]{22})\/edit\?pin=(\w+)$/.exec(editUrl) ?? [];
      expect(html).toContain(`value="${site.base}/${id}/view"`);
      expect((await fetch(editUrl)).status).toBe(200);
      const record = await (await fetch(addressOf(site, id, "json"))).json();
      expect(record).toMatchObject({ name: "Boat <1>", type: "image/jpeg", agent: { name: "Mozilla" } });
      expect(html).toContain(`<time datetime="${record.expiresAt}">`);
      expect(Math.abs(Date.parse(record.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(60_000);
      const erased = await fetch(`${addressOf(site, id, "json")}?pin=${pin}`, { method: "DELETE" });
      expect(erased.status).toBe(204);
    });
  });

  test("answers a refusal with its status and the form again", async () => {
    await withSite({ host, maxUploadBytes: 1024 * 1024 }, async (site) => {
      const refused = await send(site, new Blob(["text"], { type: "image/jpeg" }), { name: "Boat" });
      expect(refused.status).toBe(415);
      const html = await refused.text();
      expect(html).toContain("This file can’t be read as an image.");
      expect(html).toContain(`action="${site.base}/"`);
      expect(html).toContain('value="Boat"');

      const large = await send(site, new Blob([Buffer.alloc(1_100_000)], { type: "image/jpeg" }));
      expect([large.status, await large.text()]).toEqual([
        413,
        expect.stringContaining("This file is too large. The limit is 1 MB."),
      ]);

      const empty = await fetch(`${site.base}/`, { method: "POST", body: "x=1", headers: BROWSER });
      expect(empty.status).toBe(415);
      expect(await empty.text()).toContain('role="alert"');

      const forged = await send(site, await jpeg(), {}, { "Sec-Fetch-Site": "cross-site" });
      expect(forged.status).toBe(403);
      expect(await forged.text()).not.toContain("<form");
    });
  });
});
