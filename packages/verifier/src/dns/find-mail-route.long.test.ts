import { afterEach, beforeEach, expect, test } from "vitest";
import { never, useMailWorld, world } from "../../test/mail-world.ts";
import { findMailRoute } from "./find-mail-route.ts";
import { ResolverControl } from "./resolver-control.ts";

useMailWorld();
let nowMs: number;
let control: ResolverControl;
beforeEach(() => {
  nowMs = 0;
  control = controlOf(5000);
});
afterEach(() => control.close());

function controlOf(dnsMs: number): ResolverControl {
  return new ResolverControl({ dnsServers: [world.dns.address], dnsMs, now: () => nowMs });
}

function find(domain: string, more: { maxHosts?: number; dnsMs?: number } = {}) {
  const options = { dnsServers: [world.dns.address], dnsMs: 10_000, maxHosts: 5, control, ...more };
  return findMailRoute(domain, options, never());
}

/** MX records in order of preference. */
const hosts = (...names: string[]) => names.map((name, index) => [10 * (index + 1), name] as const);

const FAILED = { routing: "unknown", reason: "dns_failure" };
const UNTRUSTED = { routing: "unknown", reason: "dns_untrusted" };
const controlQuestions = () => world.dns.questions.filter((question) => question.startsWith("NS "));

test("a route lists hosts in order of preference, with their addresses, IPv4 first", async () => {
  Object.assign(world.dns.zone, {
    "one.test": {
      MX: [
        [30, "c.one.test"],
        [10, "A.one.test"],
        [20, "b.one.test"],
      ],
    },
    "a.one.test": { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] },
    "b.one.test": { AAAA: ["2001:db8::2"] },
    "c.one.test": { A: ["192.0.2.3"] },
  });
  expect(await find("one.test")).toEqual({
    routing: "found",
    hosts: [
      { name: "a.one.test", addresses: ["192.0.2.1", "2001:db8::1"] },
      { name: "b.one.test", addresses: ["2001:db8::2"] },
      { name: "c.one.test", addresses: ["192.0.2.3"] },
    ],
  });
});

test("hosts of equal preference are in random order", async () => {
  const { zone } = world.dns;
  zone["one.test"] = {
    MX: [
      [10, "a.test"],
      [10, "b.test"],
    ],
  };
  for (const name of ["a.test", "b.test"]) zone[name] = { A: ["192.0.2.1"] };
  const first = new Set<string | undefined>();
  for (let times = 0; times < 200 && first.size < 2; times++) {
    const route = await find("one.test");
    first.add(route.routing === "found" ? route.hosts[0]?.name : undefined);
  }
  expect([...first].sort()).toEqual(["a.test", "b.test"]);
});

test("a route of a domain with sixty hosts, whose answer needs TCP, contains only the preferred maxHosts", async () => {
  const { zone } = world.dns;
  zone["big.test"] = {
    MX: Array.from({ length: 60 }, (_, index) => [60 - index, `mx-${index}.a-long-name.big.test`] as const),
  };
  for (let index = 0; index < 60; index++)
    zone[`mx-${index}.a-long-name.big.test`] = { A: [`192.0.2.${index}`] };
  const route = await find("big.test");
  expect(route.routing === "found" && route.hosts.map(({ name }) => name)).toEqual(
    [59, 58, 57, 56, 55].map((index) => `mx-${index}.a-long-name.big.test`),
  );
  expect(world.dns.tcpQuestions()).toBeGreaterThan(0);
  expect(new Set(world.dns.questions).size).toBe(11);
});

test("a domain without MX is its own mail host", async () => {
  world.dns.zone["a.test"] = { A: ["192.0.2.1"] };
  world.dns.zone["aaaa.test"] = { AAAA: ["2001:db8::1"] };
  expect(await find("a.test")).toEqual({
    routing: "found",
    hosts: [{ name: "a.test", addresses: ["192.0.2.1"] }],
  });
  expect(await find("aaaa.test")).toMatchObject({
    routing: "found",
    hosts: [{ addresses: ["2001:db8::1"] }],
  });
});

test.each<[string, "none" | "null_mx" | "unknown"]>([
  ["missing.test", "none"],
  ["empty.test", "none"],
  ["null.test", "null_mx"],
  ["nulls.test", "null_mx"],
  ["dangling.test", "none"],
  ["loop.test", "none"],
  ["servfail.test", "unknown"],
  ["refused.test", "unknown"],
  ["silent.test", "unknown"],
  ["half-silent.test", "unknown"],
  ["silent-host.test", "unknown"],
  ["far-host.test", "unknown"],
])("the mail route of %s is %s", async (domain, routing) => {
  Object.assign(world.dns.zone, {
    "empty.test": {},
    "null.test": { MX: [[0, "."]], A: ["192.0.2.1"] },
    "nulls.test": {
      MX: [
        [0, "."],
        [10, "."],
      ],
    },
    "dangling.test": {
      MX: hosts("missing.test", "empty.test"),
    },
    "loop.test": { CNAME: "pool.test" },
    "pool.test": { CNAME: "loop.test" },
    "servfail.test": { rcode: 2 },
    "refused.test": { rcode: 5 },
    "silent.test": { drops: true },
    "half-silent.test": {
      MX: hosts("missing.test", "servfail.test"),
    },
    "silent-host.test": { MX: hosts("silent.test") },
    "far-host.test": {
      MX: hosts("missing.test", "empty.test", "near.test"),
    },
    "near.test": { A: ["192.0.2.1"] },
  });
  const route = await find(domain, { dnsMs: 2000, maxHosts: 2 });
  expect(route).toEqual(routing === "unknown" ? FAILED : { routing });
});

test("a null MX next to other hosts is ignored", async () => {
  world.dns.zone["both.test"] = {
    MX: [
      [0, "."],
      [10, "mx.test"],
    ],
  };
  world.dns.zone["mx.test"] = { A: ["192.0.2.1"] };
  expect(await find("both.test")).toMatchObject({ routing: "found", hosts: [{ name: "mx.test" }] });
});

test("an IP address as the name of a host is not queried, and the route is found without hosts", async () => {
  world.dns.zone["literal.test"] = {
    MX: hosts("127.0.0.1", "169.254.169.254"),
  };
  expect(await find("literal.test")).toEqual({ routing: "found", hosts: [] });
  expect(world.dns.questions).toEqual(["MX literal.test"]);
});

test("the host name localhost resolves to 127.0.0.1 without a DNS query", async () => {
  world.dns.zone["local.test"] = { MX: hosts("localhost") };
  world.dns.zone.localhost = { A: ["192.0.2.1"] };
  expect(await find("local.test")).toEqual({
    routing: "found",
    hosts: [{ name: "localhost", addresses: ["127.0.0.1"] }],
  });
});

test("a query whose answer was lost is repeated", async () => {
  world.dns.zone["flaky.test"] = { MX: hosts("mx.test"), dropsFirst: 1 };
  world.dns.zone["mx.test"] = { A: ["192.0.2.1"] };
  expect(await find("flaky.test", { dnsMs: 9000 })).toMatchObject({ routing: "found" });
});

test("a slow or unreachable resolver yields unknown at the deadline", async () => {
  world.dns.zone["slow.test"] = { MX: hosts("mx.test"), delayMs: 20_000 };
  expect(await find("slow.test", { dnsMs: 500 })).toEqual(FAILED);
  const gone = { dnsServers: ["127.0.0.1:1"], dnsMs: 500, maxHosts: 5, control };
  expect(await findMailRoute("one.test", gone, never())).toEqual(FAILED);
});

test("an abort ends the queries at once", async () => {
  world.dns.zone["silent.test"] = { drops: true };
  const controller = new AbortController();
  const options = { dnsServers: [world.dns.address], dnsMs: 60_000, maxHosts: 5, control };
  const route = findMailRoute("silent.test", options, controller.signal);
  await expect.poll(() => world.dns.questions.length).toBeGreaterThan(0);
  controller.abort();
  expect(await route).toEqual(FAILED);
});

test.each([
  ["answers NXDOMAIN", { rcode: 3 }],
  ["has no record", {}],
  ["refuses", { rcode: 5 }],
])("with a resolver that %s for every name, a missing domain is unknown and not absent", async (_, entry) => {
  Object.assign(world.dns.zone, {
    org: entry,
    com: entry,
    "empty.org": {},
    "half.org": { MX: hosts("mx.half.org") },
  });
  for (const domain of ["missing.org", "empty.org", "half.org", "missing.com"]) {
    expect(await find(domain), domain).toEqual(UNTRUSTED);
  }
});

test("a domain that a private resolver without the public DNS knows is found, and needs no control", async () => {
  for (const topLevel of ["corp", "com"]) world.dns.zone[topLevel] = { rcode: 3 };
  world.dns.zone["one.corp"] = { MX: hosts("mx.one.corp") };
  world.dns.zone["mx.one.corp"] = { A: ["10.0.0.1"] };
  world.dns.zone["null.corp"] = { MX: [[0, "."]] };
  expect(await find("one.corp")).toMatchObject({ routing: "found" });
  expect(await find("null.corp")).toEqual({ routing: "null_mx" });
  expect(controlQuestions()).toEqual([]);
});

test.each(["org", "gov", "de", "uk", "eu"])(
  "a domain of the top-level domain %s, which exists, is unknown with a resolver that denies that one and knows com",
  async (topLevel) => {
    world.dns.zone[topLevel] = { rcode: 3 };
    expect(await find(`one.${topLevel}`)).toEqual(UNTRUSTED);
  },
);

test.each(["nosuchtld", "dx", "test", "invalid", "local", "onion"])(
  "a domain of the top-level domain %s, which does not exist, is absent with a resolver that knows com",
  async (topLevel) => {
    world.dns.zone[topLevel] = { rcode: 3 };
    expect(await find(`one.${topLevel}`)).toEqual({ routing: "none" });
    expect(controlQuestions()).toContain("NS com");
  },
);

test("missing hosts of another top-level domain are absent only if the resolver knows that one", async () => {
  world.dns.zone["one.test"] = { MX: hosts("mx.one.org") };
  world.dns.zone.org = { rcode: 2 };
  expect(await find("one.test")).toEqual(UNTRUSTED);
  delete world.dns.zone.org;
  nowMs += 10_000;
  expect(await find("one.test")).toEqual({ routing: "none" });
});

test("a hundred missing domains cost one control question each five minutes, and ten seconds after a denial", async () => {
  const missing = () => Promise.all(Array.from({ length: 100 }, (_, index) => find(`${index}-${nowMs}.org`)));
  for (const name of ["org", "com"]) world.dns.zone[name] = { rcode: 3 };
  expect(new Set((await missing()).map(({ routing }) => routing))).toEqual(new Set(["unknown"]));
  nowMs += 9999;
  await missing();
  expect(controlQuestions()).toEqual(["NS org"]);
  for (const name of ["org", "com"]) delete world.dns.zone[name];
  nowMs += 1;
  expect(new Set((await missing()).map(({ routing }) => routing))).toEqual(new Set(["none"]));
  nowMs += 299_999;
  await missing();
  expect(controlQuestions()).toEqual(["NS org", "NS org"]);
  nowMs += 1;
  await missing();
  expect(controlQuestions()).toHaveLength(3);
});

test("a control question without an answer ends at the deadline of the route", async () => {
  world.dns.zone.org = { drops: true };
  control = controlOf(600_000);
  expect(await find("missing.org", { dnsMs: 500 })).toEqual(FAILED);
});
