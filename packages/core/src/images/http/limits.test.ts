import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  created,
  createSite,
  type ImageSite,
  type SiteOptions,
} from "../../../test/image-site.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";

const start = (options: SiteOptions) => createSite({ renderer: createFakeRenderer(acceptAll), ...options });

/** Addresses of as many /64 networks in one /48. */
const inOne48 = (count: number, prefix = "2001:db8:1") =>
  Array.from({ length: count }, (_, n) => `${prefix}:${n.toString(16)}::${n + 1}`);
/** Addresses of as many IPv4 clients. */
const inIPv4 = (count: number) => Array.from({ length: count }, (_, n) => `198.18.${n >> 8}.${n & 255}`);

function countOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function inTurn(clients: readonly string[], send: (clientIp: string) => Promise<Answer>) {
  const answers: Answer[] = [];
  for (const clientIp of clients) answers.push(await send(clientIp));
  return answers;
}

describe("wrong PINs, ten a minute and client", () => {
  let site: ImageSite;
  let image: { id: string; pin: string };
  const remove = (clientIp: string, pin = "0000000000000000") =>
    site.send("DELETE", `/api/images/${image.id}.json`, { search: `pin=${pin}`, clientIp });
  const rename = (clientIp: string, pin = image.pin) =>
    site.send("PATCH", `/api/images/${image.id}.json`, {
      search: `pin=${pin}`,
      fields: { name: "New" },
      clientIp,
    });

  async function prepare(pinFailures = 10) {
    site = start({ rateLimits: { creates: false, reads: false, edits: false, pinFailures } });
    image = created(await site.create());
  }

  test.each([
    ["the ports of a proxy", (n: number) => `198.51.100.50:${1000 + n}`],
    ["the ports of one IPv6 address", (n: number) => `[2001:db8::1]:${1000 + n}`],
    ["addresses in one /64", (n: number) => `2001:db8::${n + 1}`],
    ["spellings that are no address", (n: number) => `unknown-${n}`],
  ])("%s share one limit", async (_what, addressOf) => {
    await prepare();
    const answers = await inTurn(
      Array.from({ length: 15 }, (_, n) => addressOf(n)),
      remove,
    );
    expect(countOf(answers)).toEqual({ 403: 10, 429: 5 });
    expect((await rename("203.0.113.7")).status).toBe(200);
  });

  test("one /48 gets eight times the limit, and locks out no client of another network", async () => {
    await prepare();
    const answers = await inTurn(inOne48(100), remove);
    expect(countOf(answers)).toEqual({ 403: 80, 429: 20 });
    expect(answers.at(-1)?.headers["RateLimit-Policy"]).toBe('"pinFailures";q=80;w=60');
    expect((await rename("2001:db8:1:ffff::1")).status).toBe(429);
    for (const other of ["2001:db8:2::1", "203.0.113.7"]) {
      const wrong = await inTurn(Array(9).fill(other), remove);
      expect(countOf(wrong)).toEqual({ 403: 9 });
      expect((await rename(other)).status).toBe(200);
    }
  });

  test("beyond 100 times the limit of all clients each network has one failure, and a right PIN still passes", async () => {
    await prepare(2);
    expect(countOf(await inTurn(inIPv4(200), remove))).toEqual({ 403: 200 });
    expect((await rename("203.0.113.7")).status).toBe(200);
    expect((await remove("203.0.113.7")).status).toBe(403);
    const refused = await rename("203.0.113.7");
    expect([refused.status, refused.headers["RateLimit-Policy"]]).toEqual([429, '"pinFailures";q=200;w=60']);
    expect((await rename("203.0.113.8")).status).toBe(200);
    // All clients of one /48 have one failure together.
    expect(countOf(await inTurn(inOne48(3), remove))).toEqual({ 403: 1, 429: 2 });
  });
});

describe("creates", () => {
  let site: ImageSite;
  const create = (clientIp: string) => site.create({ clientIp });

  test("one /48 may upload eight times the limit of a client, and leaves the limits of other networks alone", async () => {
    site = start({ rateLimits: { creates: 2 } });
    expect(countOf(await inTurn(inOne48(20), create))).toEqual({ 201: 16, 429: 4 });
    expect(countOf(await inTurn(Array(3).fill("2001:db8:2::1"), create))).toEqual({ 201: 2, 429: 1 });
    expect(countOf(await inTurn(Array(3).fill("203.0.113.7"), create))).toEqual({ 201: 2, 429: 1 });
  });

  test("beyond 100 times the limit of all clients each network may upload one image a minute", async () => {
    site = start({ rateLimits: { creates: 2 } });
    const crowd = inIPv4(100);
    expect(countOf(await inTurn([...crowd, ...crowd], create))).toEqual({ 201: 200 });
    const answers = await inTurn(Array(2).fill("203.0.113.7"), create);
    expect(answers.map(({ status }) => status)).toEqual([201, 429]);
    expect(answers[0]?.headers["RateLimit-Policy"]).toBe('"creates";q=2;w=60');
    expect(answers[1]?.headers["RateLimit-Policy"]).toBe('"creates";q=200;w=60');
    expect(countOf(await inTurn(inOne48(3), create))).toEqual({ 201: 1, 429: 2 });
  });

  test("a burst of uploads passes at once, refills steadily, and is announced as the time to refill it", async () => {
    site = start({ rateLimits: { creates: { perMinute: 30, burst: 5 } } });
    const answers = await inTurn(Array(6).fill("203.0.113.7"), create);
    expect(countOf(answers)).toEqual({ 201: 5, 429: 1 });
    expect(answers[0]?.headers).toMatchObject({
      "RateLimit-Policy": '"creates";q=5;w=10',
      RateLimit: '"creates";r=4;t=2',
    });
    expect(answers[5]?.headers).toMatchObject({ RateLimit: '"creates";r=0;t=2', "Retry-After": "2" });
    expect((await create("203.0.113.8")).status).toBe(201);
  });

  test("by default a client uploads 200 images at once, and its network 480 a minute", async () => {
    site = start({ rateLimits: {} });
    const answers = await inTurn(Array(200).fill("203.0.113.7"), create);
    expect(countOf(answers)).toEqual({ 201: 200 });
    expect(answers[0]?.headers["RateLimit-Policy"]).toBe('"creates";q=200;w=200');
  });

  test("a network that refilled its burst still has one upload a minute beyond the limit of all clients", async () => {
    const limiter = createMemoryRateLimiter();
    // A point refills within a microsecond, so its own limit never refuses.
    const creates = { perMinute: 60_000_000_000, burst: 10 };
    site = start({ rateLimits: { creates }, rateLimiter: limiter });
    const all = { limit: creates.perMinute * 100, windowMs: 60_000 };
    await limiter.consume("creates:all clients", all, all.limit);
    expect(countOf(await inTurn(Array(3).fill("203.0.113.7"), create))).toEqual({ 201: 1, 429: 2 });
  });

  test("an upload that the limit of a /48 refuses counts against no limit", async () => {
    const limiter = createMemoryRateLimiter();
    site = start({ rateLimits: { creates: 1 }, rateLimiter: limiter });
    const refused = (await inTurn(inOne48(9), create)).at(-1);
    expect(refused?.status).toBe(429);
    const own = { limit: 1, windowMs: 60_000 };
    expect(await limiter.peek("creates:2001:db8:1:8::/64", own)).toMatchObject({ remaining: 1 });
    const all = await limiter.peek("creates:all clients", { ...own, limit: 100 });
    expect(all.remaining).toBe(92);
  });
});
