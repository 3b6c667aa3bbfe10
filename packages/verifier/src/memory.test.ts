import type { KeyValue } from "@outrigger/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveMail } from "../../../test/support/hostile-mail-server.ts";
import { createMailWorld, type MailWorld, never } from "../test/mail-world.ts";

let world: MailWorld;
let nowMs: number;
const now = () => nowMs;
beforeEach(async () => {
  world = await createMailWorld();
  nowMs = Date.UTC(2030, 0, 1);
});
afterEach(() => world.close());

const recipients = (lines: readonly string[]) => lines.filter((line) => line.startsWith("RCPT"));

test("a greylisted question is asked again by the same sender when it is time, and then answered", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
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

test("a server that greylists again is given twice the time, up to four hours", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
  const prober = world.prober({ now });
  const waits: (number | null)[] = [];
  for (let times = 0; times < 8; times++) {
    const { retryAfterMs } = await prober.probe("grey", "one.test", { smtp: true, signal: never() });
    waits.push(retryAfterMs);
    nowMs += retryAfterMs ?? 0;
  }
  expect(waits.map((waitMs) => (waitMs ?? 0) / 300_000)).toEqual([1, 2, 4, 8, 16, 32, 48, 48]);
});

test("the host that greylisted is the first to be asked again", async () => {
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

test("what is remembered of an address is forgotten on demand, and cannot be read in the cache", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
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

test("probers that share a cache and a secret share their waits; without the secret they do not", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
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

test("the route of a domain is asked for once while it holds; a failure is not remembered", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
  world.dns.zone["bad.test"] = { rcode: 2 };
  const prober = world.prober({ now, smtp: { helo: "probe.outrigger.test", mailFrom: "" } });
  const ask = (domain: string) => prober.probe("nobody", domain, { smtp: true, signal: never() });
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

test("whether a domain accepts all is asked once while it holds", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
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

test("a refusal of an unknown user tells that not all are accepted", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
  const prober = world.prober();
  await prober.probe("nobody", "one.test", { smtp: true, signal: never() });
  const result = await prober.probe("alice", "one.test", { smtp: true, signal: never() });
  expect(result).toMatchObject({ mailbox: true, acceptsAll: false, reason: null });
  expect(recipients(server.commands)).toHaveLength(2);
});

test.each(["rejects", "answers nonsense"])(
  "a cache that %s changes nothing but what is remembered",
  async (how) => {
    const server = await world.mailServer();
    world.route("one.test", server.host);
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
