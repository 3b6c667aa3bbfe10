import type { KeyValue } from "@outrigger/core/stores";
import { beforeEach, expect, test } from "vitest";
import { serveMail } from "../../../test/support/hostile-mail-server.ts";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();
let nowMs: number;
const now = () => nowMs;
beforeEach(() => {
  nowMs = Date.UTC(2030, 0, 1);
});

const recipients = (lines: readonly string[]) => lines.filter((line) => line.startsWith("RCPT"));

test("a greylisted question is repeated with the same sender only after its wait, and then answered", async () => {
  const server = await world.serve("one.test");
  const prober = world.prober({ now });
  const ask = () => prober.probe("grey", "one.test", { smtp: true, signal: never() });
  expect(await ask()).toMatchObject({ mailbox: null, reason: "greylisted", retryAfterMs: 300_000 });
  nowMs += 100_000;
  expect(await ask()).toMatchObject({
    server: true,
    mailbox: null,
    reason: "greylisted",
    retryAfterMs: 200_000,
  });
  expect(recipients(server.commands)).toHaveLength(1);
  nowMs += 200_000;
  server.endGreylisting();
  expect(await ask()).toMatchObject({ mailbox: true, acceptsAll: false, reason: null, retryAfterMs: null });
  expect(recipients(server.commands)).toHaveLength(3);
});

test("repeated greylisting doubles the wait, up to four hours", async () => {
  await world.serve("one.test");
  const prober = world.prober({ now });
  const waits: (number | null)[] = [];
  for (let times = 0; times < 8; times++) {
    const { retryAfterMs } = await prober.probe("grey", "one.test", { smtp: true, signal: never() });
    waits.push(retryAfterMs);
    nowMs += retryAfterMs ?? 0;
  }
  expect(waits.map((waitMs) => (waitMs ?? 0) / 300_000)).toEqual([1, 2, 4, 8, 16, 32, 48, 48]);
});

test("a greylisted question is repeated at the host that greylisted it", async () => {
  const first = await world.hostileServer(
    (peer) => serveMail(peer, { RCPT: "451 4.7.1 Try again later" }),
    "127.0.0.2",
  );
  const second = await world.hostileServer(
    (peer) => serveMail(peer, { RCPT: "451 4.7.1 Try again later" }),
    "127.0.0.3",
  );
  const mx = [
    [10, "a.test"],
    [10, "b.test"],
  ] as const;
  Object.assign(world.dns.zone, {
    "one.test": { MX: mx },
    "a.test": { A: [first.host] },
    "b.test": { A: [second.host] },
  });
  const prober = world.prober({ now, routeTtlMs: 1 });
  for (let times = 0; times < 8; times++) {
    const { retryAfterMs } = await prober.probe("carol", "one.test", { smtp: true, signal: never() });
    nowMs += retryAfterMs ?? 0;
  }
  expect([first.connections(), second.connections()].sort()).toEqual([0, 8]);
});

test("forget deletes the entry of an address, and the cache never contains the address in clear", async () => {
  const server = await world.serve("one.test");
  const stored = new Map<string, unknown>();
  const cache: KeyValue = {
    get: async (key) => stored.get(key),
    set: async (key, value) => stored.set(key, value),
    delete: async (key) => stored.delete(key),
  };
  const prober = world.prober({ now, cache });
  const ask = () => prober.probe("grey", "one.test", { smtp: true, signal: never() });
  await ask();
  expect(JSON.stringify([...stored])).not.toContain("grey@");
  expect([...stored.keys()].filter((key) => key.includes("greylisting"))).toHaveLength(1);
  await prober.forget("Grey", "one.test");
  expect([...stored.keys()].filter((key) => key.includes("greylisting"))).toHaveLength(0);
  await ask();
  expect(recipients(server.commands)).toHaveLength(2);
});

test("probers share greylisting waits only if they share both the cache and the secret", async () => {
  const server = await world.serve("one.test");
  const stored = new Map<string, unknown>();
  const cache: KeyValue = {
    get: async (key) => structuredClone(stored.get(key)),
    set: async (key, value) => stored.set(key, JSON.parse(JSON.stringify(value))),
    delete: async (key) => stored.delete(key),
  };
  for (const secret of ["shared", "shared", "other"]) {
    const prober = world.prober({ now, cache, secret });
    await prober.probe("grey", "one.test", { smtp: true, signal: never() });
  }
  expect(recipients(server.commands)).toHaveLength(2);
});

test("the mail route of a domain is cached, and a DNS failure is not", async () => {
  const server = await world.serve("one.test");
  world.dns.zone["bad.test"] = { rcode: 2 };
  const prober = world.prober({ now, smtp: { helo: "probe.outrigger.test", mailFrom: "" } });
  const ask = (domain: string) => prober.probe("absent", domain, { smtp: true, signal: never() });
  for (let times = 0; times < 2; times++)
    expect(await ask("one.test")).toMatchObject({ reason: "user_unknown" });
  expect(world.dns.questions.filter((question) => question === "MX one.test")).toHaveLength(1);
  nowMs += 600_001;
  await ask("one.test");
  expect(world.dns.questions.filter((question) => question === "MX one.test")).toHaveLength(2);
  expect(await ask("bad.test")).toMatchObject({ routing: "unknown", reason: "dns_failure" });
  world.route("bad.test", server.host);
  expect(await ask("bad.test")).toMatchObject({ routing: "found", reason: "user_unknown" });
});

test("the verdict that a domain accepts all is cached", async () => {
  const server = await world.serve("one.test");
  const prober = world.prober({ now });
  const ask = async (local: string) => {
    await prober.probe(local, "one.test", { smtp: true, signal: never() });
    return recipients(server.commands).length;
  };
  expect(await ask("alice")).toBe(2);
  expect(await ask("bob")).toBe(3);
  nowMs += 86_400_001;
  expect(await ask("alice")).toBe(5);
});

test.each(["rejects", "answers nonsense"])(
  "with a cache that %s a probe still returns the correct result",
  async (how) => {
    await world.serve("one.test");
    const errors: unknown[] = [];
    const fail = async () => {
      if (how === "rejects") throw new Error("The cache is gone");
      return { value: { routing: "found", hosts: [{ name: 1 }] }, untilMs: Number.MAX_SAFE_INTEGER };
    };
    const prober = world.prober({
      cache: { get: fail, set: fail, delete: fail },
      onError: (error) => errors.push(error),
    });
    const result = await prober.probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toMatchObject({ mailbox: true, acceptsAll: false, reason: null });
    expect(errors.length > 0).toBe(how === "rejects");
  },
);

test("a denial of a resolver that denies everything is not cached", async () => {
  for (const name of ["test", "com"]) world.dns.zone[name] = { rcode: 3 };
  const prober = world.prober({ now });
  const ask = () => prober.probe("alice", "one.test", { smtp: true, signal: never() });
  expect(await ask()).toEqual({
    ...{ routing: "unknown", server: null, mailbox: null, acceptsAll: null },
    ...{ reason: "dns_untrusted", retryAfterMs: 60_000 },
  });
  for (const name of ["test", "com"]) delete world.dns.zone[name];
  nowMs += 10_000;
  expect(await ask()).toMatchObject({ routing: "none", mailbox: false, reason: null });
});
