import { specialAddresses } from "@outrigger/core/stores";
import { expect, test } from "vitest";
import { serveMail } from "../../../test/support/hostile-mail-server.ts";
import { never, useMailWorld, withLoopback, world } from "../test/mail-world.ts";

useMailWorld();

const FORBIDDEN = {
  routing: "found",
  server: null,
  mailbox: null,
  reason: "forbidden_address",
  retryAfterMs: null,
};

test("a prober with default options does not connect to a special address", async () => {
  const server = await world.hostileServer((peer) => serveMail(peer));
  const prober = world.prober({ forbidden: specialAddresses() });
  for (const [index, address] of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"].entries()) {
    world.route(`bad${index}.test`, address);
  }
  // These map to this machine.
  world.dns.zone["bad4.test"] = { AAAA: ["::ffff:127.0.0.1", "::1"] };
  for (let index = 0; index < 5; index++) {
    const result = await prober.probe("alice", `bad${index}.test`, { smtp: true, signal: never() });
    expect(result, `bad${index}.test`).toMatchObject(FORBIDDEN);
  }
  expect(server.connections()).toBe(0);
});

test("a prober does not connect to this machine for an MX of localhost or of the root", async () => {
  const server = await world.hostileServer((peer) => serveMail(peer));
  world.dns.zone["local.test"] = { MX: [[10, "localhost"]] };
  world.dns.zone["null.test"] = { MX: [[0, "."]] };
  world.dns.zone["literal.test"] = { MX: [[0, "127.0.0.1"]] };
  const prober = world.prober({ forbidden: specialAddresses() });
  const ask = (domain: string) => prober.probe("alice", domain, { smtp: true, signal: never() });
  expect(await ask("local.test")).toMatchObject(FORBIDDEN);
  const none = { server: null, mailbox: false, reason: null };
  expect(await ask("null.test")).toMatchObject({ routing: "null_mx", ...none });
  const literal = { routing: "found", server: null, reason: "no_connection" };
  expect(await ask("literal.test")).toMatchObject(literal);
  expect(server.connections()).toBe(0);
});

test("of several addresses, a prober connects only to allowed ones", async () => {
  const bad = await world.hostileServer((peer) => serveMail(peer));
  const good = await world.mailServer({ host: "127.9.0.1" });
  world.route("both.test", bad.host, good.host);
  const forbidden = withLoopback();
  forbidden.addAddress(bad.host);
  const prober = world.prober({ forbidden });
  const result = await prober.probe("alice", "both.test", { smtp: true, signal: never() });
  expect(result).toMatchObject({ mailbox: true, reason: null });
  expect(bad.connections()).toBe(0);
});

test("DNS rebinding: each address is checked before use, and a probe resolves a host only once", async () => {
  const bad = await world.hostileServer((peer) => serveMail(peer));
  const good = await world.mailServer({ host: "127.9.0.1" });
  world.dns.zone["turns.test"] = { MX: [[10, "mx.turns.test"]] };
  world.dns.zone["mx.turns.test"] = { A: [good.host], alternateA: [bad.host] };
  const forbidden = withLoopback();
  forbidden.addAddress(bad.host);
  const prober = world.prober({ forbidden, routeTtlMs: 1, now: nextSecond() });
  const results = [];
  for (let times = 0; times < 4; times++) {
    results.push(await prober.probe("absent", "turns.test", { smtp: true, signal: never() }));
  }
  const reasons = ["user_unknown", "forbidden_address"];
  expect(results.map(({ reason }) => reason)).toEqual([...reasons, ...reasons]);
  expect(bad.connections()).toBe(0);
  expect(world.dns.questions.filter((question) => question === "A mx.turns.test")).toHaveLength(4);
});

test("a prober also checks addresses from the cache", async () => {
  const bad = await world.hostileServer((peer) => serveMail(peer));
  const route = { routing: "found", hosts: [{ name: "mx.test", addresses: [bad.host, "localhost", ""] }] };
  const cache = new Map<string, unknown>([
    ["mail-route:bad.test", { value: route, untilMs: Number.MAX_SAFE_INTEGER }],
  ]);
  const prober = world.prober({
    forbidden: specialAddresses(),
    cache: {
      get: async (key) => cache.get(key),
      set: async (key, value) => cache.set(key, value),
      delete: async (key) => cache.delete(key),
    },
  });
  expect(await prober.probe("alice", "bad.test", { smtp: true, signal: never() })).toMatchObject(FORBIDDEN);
  expect(bad.connections()).toBe(0);
});

/** A clock that advances fast enough to expire every cached entry. */
function nextSecond(): () => number {
  let nowMs = 0;
  return () => {
    nowMs += 1000;
    return nowMs;
  };
}
