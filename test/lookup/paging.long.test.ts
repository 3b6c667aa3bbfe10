import assert from "node:assert/strict";
import { createMemoryRateLimiter } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { type LookupSite, startLookupSite, type TestLookupOptions } from "./lookup-site.ts";
import { crowdOf } from "./people.ts";

const CROWD = 5000;
const DOMAINS = Array.from({ length: 60 }, (_, index) => `d${index}.example`);

/** The rate of default options, and a plan without a quota. */
const OPTIONS: TestLookupOptions = {
  known: [...crowdOf("crowd.example", CROWD), ...DOMAINS.flatMap((domain) => crowdOf(domain, 2))],
  organizations: {},
  requestsPerSecond: 15,
  plans: { free: { searches: false, verifications: false } },
};

describe("clients that send requests without a pause", { concurrent: true }, () => {
  let site: LookupSite;
  const keys: string[] = [];
  beforeAll(async () => {
    site = await startLookupSite(OPTIONS);
    for (let index = 0; index < 5; index++) keys.push((await site.lookup.createAccount()).key);
  });
  afterAll(() => site.close());

  const page = (key: string | undefined, query: string) => {
    assert.ok(key);
    return ask(`${site.base}/v2/domain-search?api_key=${key}&${query}`);
  };

  test("a client that pages by 100 and fails at the first refusal gets all addresses", async () => {
    let found = 0;
    for (let offset = 0, total = 1; offset <= total; offset += 100) {
      const { status, body } = await page(keys[0], `domain=crowd.example&limit=100&offset=${offset}`);
      assert.equal(status, 200, `offset ${offset}`);
      total = Number(body.meta?.results);
      found += emailsOf(body).length;
    }
    expect(found).toBe(CROWD);
  });

  test("a client that pages by ten and ends where data is missing gets all addresses", async () => {
    let found = 0;
    for (;;) {
      const { body } = await page(keys[1], `domain=crowd.example&limit=10&offset=${found}`);
      if (body.data === undefined) break;
      found += emailsOf(body).length;
      if (found >= Number(body.meta?.results)) break;
    }
    expect(found).toBe(CROWD);
  });

  test("a client that asks for many domains with one key is never refused", async () => {
    for (const domain of DOMAINS) {
      const search = await page(keys[2], `domain=${domain}`);
      expect([domain, search.status, emailsOf(search.body).length]).toEqual([domain, 200, 2]);
      const count = await ask(`${site.base}/v2/email-count?api_key=${keys[2]}&domain=${domain}`);
      expect([domain, count.status]).toEqual([domain, 200]);
    }
  });

  test("a client that asks for 20 pages at once, again and again, is never refused", async () => {
    let found = 0;
    for (let start = 0; start < 100; start += 20) {
      const pages = Array.from({ length: 20 }, (_, index) =>
        page(keys[3], `domain=crowd.example&limit=50&offset=${50 * (start + index)}`),
      );
      for (const { status, body } of await Promise.all(pages)) {
        expect(status).toBe(200);
        found += emailsOf(body).length;
      }
    }
    expect(found).toBe(CROWD);
  });

  test("of 100 requests at once, those that would wait over two seconds get 429 with Retry-After", async () => {
    const replies = await Promise.all(
      Array.from({ length: 100 }, () =>
        fetch(`${site.base}/v2/account`, { headers: { "X-API-KEY": keys[4] ?? "" } }),
      ),
    );
    const refused = replies.filter(({ status }) => status === 429);
    // 15 at once and 30 within two seconds. A busy machine takes longer to read all of them, and then admits more.
    const admitted = replies.filter(({ status }) => status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(45);
    expect(refused).toHaveLength(100 - admitted);
    expect(refused.map(({ headers }) => headers.get("retry-after"))).toEqual(refused.map(() => "1"));
  });
});

test("two processes that share a limiter let a client page to the end", async () => {
  const rateLimiter = createMemoryRateLimiter();
  const sites = [];
  for (const known of [crowdOf("crowd.example", 400), crowdOf("crowd.example", 400)]) {
    sites.push(await startLookupSite({ ...OPTIONS, known, rateLimiter }));
  }
  // The accounts of both have the ID `me`, so they share the rate.
  const found = await Promise.all(
    sites.map(async (site) => {
      let count = 0;
      for (let offset = 0; offset < 400; offset += 10) {
        const { status, body } = await site.get("domain-search", `domain=crowd.example&offset=${offset}`);
        assert.equal(status, 200, `offset ${offset}`);
        count += emailsOf(body).length;
      }
      return count;
    }),
  );
  expect(found).toEqual([400, 400]);
  for (const site of sites) await site.close();
});

function emailsOf(body: { data?: Record<string, unknown> }): unknown[] {
  const emails = body.data?.emails;
  return Array.isArray(emails) ? emails : [];
}
