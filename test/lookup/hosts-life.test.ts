import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { createHeaderRenderer } from "@outrigger/testing";
import { afterEach, describe, expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { addressOf, upload } from "../support/service.ts";
import { APP_NAMES, startApp, userOf } from "./apps.ts";
import { ask, refusalOf } from "./ask.ts";
import { createTestLookup, type TestLookupOptions } from "./lookup-site.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe.each(APP_NAMES)("the lookup and its host, %s", (name) => {
  /** A lookup at `/people` of an app. */
  async function start(options: TestLookupOptions) {
    const made = await createTestLookup(options);
    ends.push(() => made.lookup.close());
    const app = await startApp(name, { services: { "/people": made.lookup } });
    ends.push(() => app.close());
    const search = `api_key=${made.key}&domain=example.com`;
    return { ...made, search, base: `${app.origin}/people/v2` };
  }

  test("the lookup accepts the host's own session instead of a key", async () => {
    const accountOf = (user: string) => ({
      ...{ id: user, email: `${user}@host.example`, firstName: user, lastName: null },
      ...{ plan: "free", createdAt: 0 },
    });
    const { base, key } = await start({
      authenticate: (call) => {
        const user = userOf(call.context);
        return user === null ? null : accountOf(user);
      },
    });
    const url = `${base}/domain-search?domain=example.com`;
    const withSession = (user: string) => ({ headers: { Cookie: `a=b; session=${user}` } });
    expect((await ask(url, withSession("ann"))).status).toBe(200);
    expect((await ask(url)).status).toBe(401);
    expect((await ask(`${url}&api_key=${key}`)).status).toBe(200);
    const usedBy = async (init: RequestInit, search = "") => {
      const { body } = await ask(`${base}/account?${search}`, init);
      return [body.data?.first_name, body.data?.calls];
    };
    expect(await usedBy(withSession("ann"))).toEqual(["ann", { used: 1, available: 200 }]);
    expect(await usedBy(withSession("bob"))).toEqual(["bob", { used: 0, available: 200 }]);
    expect(await usedBy({}, `api_key=${key}`)).toEqual(["Me", { used: 1, available: 200 }]);
  });

  test("a rejecting authenticate answers in the API's form, or in the host's if it prefers", async () => {
    const failing = { authenticate: () => Promise.reject(new Error("the host's own bug")) };
    const replying = await start(failing);
    const refused = await ask(`${replying.base}/account?api_key=${replying.key}`);
    expect(refusalOf(refused)).toEqual([500, "internal_error"]);
    expect(JSON.stringify(refused.body)).not.toContain("own bug");
    expect(replying.errors).toEqual([expect.objectContaining({ message: "the host's own bug" })]);
    const throwing = await start({ ...failing, errors: "host" });
    const reply = await fetch(`${throwing.base}/account?api_key=${throwing.key}`);
    expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining("<!doctype html>")]);
  });

  test("listed origins may send requests, also with a key in a header", async () => {
    const { base, search } = await start({ cors: { origins: ["https://shop.example"] } });
    const url = `${base}/domain-search?${search}`;
    const from = (origin: string, more: RequestInit = {}, headers = {}) =>
      fetch(url, { ...more, headers: { Origin: origin, ...headers } });
    const allowed = await from("https://shop.example");
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(allowed.headers.get("vary")).toMatch(/origin/i);
    expect((await from("https://other.example")).headers.has("access-control-allow-origin")).toBe(false);
    const preflight = await from(
      "https://shop.example",
      { method: "OPTIONS" },
      { "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key" },
    );
    expect(preflight.status).toBe(204);
    const names = preflight.headers.get("access-control-allow-headers")?.toLowerCase().split(/, */);
    expect(names).toContain("authorization");
    expect(names).toContain("x-api-key");
  });

  test("the lookup and the images run in one app, each with its own close", async () => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-beside-"));
    ends.push(() => rm(directory, { recursive: true, force: true }));
    const images = createImages({
      storage: createFsBlobStore({ directory }),
      renderer: createHeaderRenderer(),
      rateLimits: false,
      asyncAfterMs: false,
    });
    ends.push(() => images.close());
    const { lookup, key } = await createTestLookup();
    const app = await startApp(name, {
      services: { "/img": images, "/people": lookup },
    });
    ends.push(() => app.close());
    const site = { base: `${app.origin}/img` };
    const { id } = await upload(site, await pngPhoto(20, 10), "image/png");
    const url = `${app.origin}/people/v2/domain-search?api_key=${key}&domain=example.com`;
    const [picture, found] = await Promise.all([fetch(addressOf(site, id, "png")), ask(url)]);
    expect([picture.status, found.status]).toEqual([200, 200]);
    for (const crossed of ["/img/v2/account", `/people/api/images/${id}.json`]) {
      const reply = await fetch(app.origin + crossed);
      expect([crossed, reply.status, await reply.text()]).toEqual([
        crossed,
        404,
        expect.stringContaining("<!doctype html>"),
      ]);
    }
    await lookup.close();
    expect((await ask(url)).status).toBe(503);
    expect((await fetch(addressOf(site, id, "png"))).status).toBe(200);
  });
});
