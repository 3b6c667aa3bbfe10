import { afterEach, describe, expect, test } from "vitest";
import { APP_NAMES } from "./apps.ts";
import { ask, refusalOf } from "./ask.ts";
import { type LookupApp, startLookupApp } from "./lookup-app.ts";
import { crowdOf, PEOPLE } from "./people.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Options = Parameters<typeof startLookupApp> extends [unknown, ...infer Rest] ? Rest : never;

describe.each(APP_NAMES)("the lookup in %s", (name) => {
  async function start(...options: Options): Promise<LookupApp> {
    const app = await startLookupApp(name, ...options);
    ends.push(() => app.close());
    return app;
  }

  test("a key is accepted in three places, and nowhere else", async () => {
    const { base, key } = await start();
    const url = `${base}/domain-search?domain=example.com`;
    const given = (value: string) =>
      [
        [`${url}&api_key=${value}`, {}],
        [url, { headers: { "X-API-KEY": value } }],
        [url, { headers: { Authorization: `Bearer ${value}` } }],
      ] as const;
    for (const [address, init] of given(key)) expect((await ask(address, init)).status).toBe(200);
    for (const [address, init] of [...given("f".repeat(40)), [url, {}] as const]) {
      const refused = await ask(address, init);
      expect(refused.status).toBe(401);
      expect(refused.body).toEqual({
        errors: [
          { id: "authentication_failed", code: 401, details: "No user found for the API key supplied" },
        ],
      });
    }
    const empty = { headers: { "X-API-KEY": key } };
    expect((await ask(`${url}&api_key=`, empty)).status).toBe(200);
    const basic = { Authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` };
    expect((await ask(url, { headers: basic })).status).toBe(401);
  });

  test("replies are counted up to the allowance", async () => {
    const site = await start({
      known: [...PEOPLE, ...crowdOf("crowd.example", 25)],
      plans: { free: { searches: 4, verifications: 1 } },
    });
    const get = (operation: string, search = "") =>
      ask(`${site.base}/${operation}?api_key=${site.key}&${search}`);
    const crowd = await get("domain-search", "domain=crowd.example&limit=25");
    expect(crowd.body).toMatchObject({ meta: { results: 25, limit: 25, offset: 0 } });
    expect((await get("domain-search", "domain=crowd.example&limit=25")).status).toBe(200);
    expect((await get("email-finder", "domain=example.com&full_name=Ada+Lovelace")).status).toBe(200);
    const spent = await get("domain-search", "domain=example.com");
    expect(refusalOf(spent)).toEqual([429, "too_many_requests"]);
    const untilApril = (Date.parse("2026-04-01") - site.clock.now) / 1000;
    expect(spent.headers.get("retry-after")).toBe(String(untilApril));
    expect((await get("domain-search", "domain=crowd.example&limit=25")).status).toBe(200);
    expect((await get("email-count", "domain=example.com")).status).toBe(200);
    expect((await get("account")).body.data).toMatchObject({
      requests: { searches: { used: 4, available: 4 }, verifications: { used: 0, available: 1 } },
    });
    site.clock.now = Date.parse("2026-04-01");
    expect((await get("domain-search", "domain=example.com")).status).toBe(200);
  });

  test("a page that exceeds the allowance is shortened", async () => {
    const { base, key } = await start({
      known: crowdOf("crowd.example", 95),
      plans: { free: { searches: 2, verifications: 0 } },
    });
    const { body } = await ask(`${base}/domain-search?api_key=${key}&domain=crowd.example&limit=100`);
    expect(body.data?.emails).toHaveLength(20);
    expect(body.meta).toMatchObject({ results: 95, limit: 20 });
  });

  test("HEAD checks key and parameters, sends no body, and costs nothing", async () => {
    const { base, key, search } = await start();
    const head = async (address: string) => {
      const reply = await fetch(`${base}/${address}`, { method: "HEAD" });
      return [reply.status, await reply.text()];
    };
    expect(await head(`domain-search?${search}`)).toEqual([200, ""]);
    expect(await head(`domain-search/?${search}`)).toEqual([200, ""]);
    expect(await head("domain-search?domain=example.com")).toEqual([401, ""]);
    expect(await head(`domain-search?api_key=${key}`)).toEqual([400, ""]);
    expect(await head("nothing")).toEqual([404, ""]);
    const { body } = await ask(`${base}/account?api_key=${key}`);
    expect(body.data).toMatchObject({ calls: { used: 0 } });
  });

  test("HEAD gives no Content-Length other than GET's", async () => {
    const { base, search } = await start();
    const get = await fetch(`${base}/domain-search?${search}`);
    const head = await fetch(`${base}/domain-search?${search}`, { method: "HEAD" });
    const length = String(Buffer.byteLength(await get.text()));
    expect([null, length]).toContain(head.headers.get("content-length"));
  });

  test("OPTIONS lists the methods, and every other method answers 405 with that list", async () => {
    const { base, search } = await start({}, { parsesBodies: true });
    for (const path of ["domain-search", "account/"]) {
      const options = await fetch(`${base}/${path}`, { method: "OPTIONS" });
      expect([options.status, options.headers.get("allow"), await options.text()]).toEqual([
        204,
        "GET, HEAD, OPTIONS",
        "",
      ]);
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const body = JSON.stringify({ domain: "example.com" });
        const headers = { "Content-Type": "application/json" };
        const refused = await ask(`${base}/${path}?${search}`, { method, body, headers });
        expect(refusalOf(refused)).toEqual([405, "method_not_allowed"]);
        expect(refused.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      }
    }
  });

  test("unknown paths below v2 answer in the API's form, all other paths in the host's", async () => {
    const { origin, base, search } = await start();
    for (const path of [
      "",
      "/",
      "/nothing",
      "/leads",
      "/domain-search//",
      "/domain-search/x",
      "/%00",
      "/%ff",
    ]) {
      const url = `${base}${path}?${search}`;
      expect([path, ...refusalOf(await ask(url))]).toEqual([path, 404, "not_found"]);
    }
    for (const path of [
      "/people",
      "/people/",
      "/people/v1/account",
      "/people/v2x",
      "/v2/account",
      "/elsewhere",
    ]) {
      const reply = await fetch(origin + path);
      expect([path, reply.status, await reply.text()]).toEqual([
        path,
        404,
        expect.stringContaining("<!doctype html>"),
      ]);
    }
    expect(await (await fetch(`${origin}/host`)).text()).toBe("the host's own");
  });

  test("a trailing slash and a preceding body parser make no difference", async () => {
    const { base, search } = await start({}, { parsesBodies: true });
    const plain = await ask(`${base}/domain-search?${search}`);
    const slash = await ask(`${base}/domain-search/?${search}&type=&offset=&limit=`);
    expect([plain.status, slash.status]).toEqual([200, 200]);
    expect(slash.body).toEqual(plain.body);
    const headers = { "Content-Type": "application/json", "Content-Encoding": "identity" };
    expect((await ask(`${base}/domain-search?${search}`, { headers })).body).toEqual(plain.body);
  });

  test("plain HTTP forwarded by a proxy is refused", async () => {
    const { base, search } = await start();
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    expect(refusalOf(await ask(`${base}/domain-search?${search}`, { headers }))).toEqual([403, "forbidden"]);
  });
});
