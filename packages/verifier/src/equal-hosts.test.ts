import { connect, isIPv6 } from "node:net";
import type { ProbeResult } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

type Host = Awaited<ReturnType<typeof world.hostileServer>>;

const LIVING = new Set(["ann", "postmaster"]);
const unknown = "550 5.1.1 User unknown";

/** Answers a RCPT with a reply; `null` closes the connection. */
type ReplyTo = (local: string) => string | null;

const full: ReplyTo = (local) => (LIVING.has(local) ? "250 ok" : unknown);
/** A host with an empty table of mailboxes. */
const empty: ReplyTo = (local) => (local === "postmaster" ? "250 ok" : unknown);
const acceptsAll: ReplyTo = () => "250 ok";
const closes: ReplyTo = () => null;
const says =
  (text: string): ReplyTo =>
  (local) =>
    local === "postmaster" ? "250 ok" : text;

let nextHost = 1;

async function host(replyTo: ReplyTo, greeting = "220 mx ESMTP"): Promise<Host> {
  const address = `127.0.7.${nextHost++}`;
  return await world.hostileServer(async (peer) => {
    peer.send(`${greeting}\r\n`);
    for (let line = await peer.line(); line !== null; line = await peer.line()) {
      const local = /^RCPT TO:<(.*)@/.exec(line)?.[1];
      const reply = local === undefined ? "250 ok" : replyTo(local);
      if (reply === null) break;
      peer.send(`${reply}\r\n`);
      if (line === "QUIT") break;
    }
    peer.socket.end();
  }, address);
}

/** Lists hosts with their preferences in the DNS. */
function list(domain: string, ...preferences: (readonly [number, ...string[]])[]): void {
  const { zone } = world.dns;
  zone[domain] = {
    MX: preferences.map(([preference], index) => [preference, `mx${index}.${domain}`] as const),
  };
  for (const [index, [, ...addresses]] of preferences.entries()) {
    zone[`mx${index}.${domain}`] = {
      A: addresses.filter((address) => !address.includes(":")),
      AAAA: addresses.filter((address) => address.includes(":")),
    };
  }
}

const probe = (domain: string, local = "ann", prober = world.prober()): Promise<ProbeResult> =>
  prober.probe(local, domain, { smtp: true, signal: never() });

const connections = (hosts: readonly Host[]) => hosts.reduce((sum, one) => sum + one.connections(), 0);

test.each([2, 3, 4])(
  "of %i equal hosts, one that accepts a mailbox counts, whichever is asked first",
  async (count) => {
    const hosts = [await host(full)];
    while (hosts.length < count) hosts.push(await host(empty));
    for (let index = 0; index < 6; index++) {
      list(`${index}.test`, ...hosts.map((one) => [10, one.host] as const));
      expect(await probe(`${index}.test`)).toMatchObject({ mailbox: true, acceptsAll: false, reason: null });
    }
  },
);

test("of several addresses of one host, one that accepts a mailbox counts", async () => {
  const hosts = [await host(full), await host(empty), await host(empty), await host(empty)];
  for (let index = 0; index < 5; index++) {
    list(`${index}.test`, [10, ...hosts.map((one) => one.host)]);
    expect(await probe(`${index}.test`)).toMatchObject({ mailbox: true });
  }
});

test("a mailbox that all equal hosts deny is denied, and worse hosts are not asked", async () => {
  const equal = [await host(full), await host(full), await host(full)];
  const worse = await host(acceptsAll);
  list("one.test", ...equal.map((one) => [10, one.host] as const), [20, worse.host]);
  expect(await probe("one.test", "absent")).toMatchObject({
    ...{ server: true, mailbox: false, acceptsAll: false, reason: "user_unknown", retryAfterMs: null },
  });
  expect(equal.map((one) => one.connections())).toEqual([1, 1, 1]);
  expect(worse.connections()).toBe(0);
});

test("an address that several names of a domain share is asked once", async () => {
  const one = await host(full);
  list("one.test", [10, one.host], [10, one.host], [20, one.host]);
  expect(await probe("one.test", "absent")).toMatchObject({ mailbox: false });
  expect(one.connections()).toBe(1);
});

test("an equal host that accepts any name makes a denied name one of a domain that accepts all", async () => {
  const hosts = [await host(full), await host(acceptsAll)];
  list("one.test", ...hosts.map((one) => [10, one.host] as const));
  const prober = world.prober();
  const results = [];
  for (const local of ["ann", "gone", "left"]) results.push(await probe("one.test", local, prober));
  expect(results.slice(1)).toMatchObject([{ mailbox: null, acceptsAll: true }, { acceptsAll: true }]);
});

test.each([
  ["is down", closes, undefined, true],
  ["answers 421 at its banner", full, "421 4.3.2 Busy", false],
  ["breaks off after RCPT", closes, undefined, false],
  ["answers nonsense", full, "hello", false],
  ["defers the mailbox", says("451 4.3.0 Later"), undefined, false],
  ["blocks the sender", full, "554 5.7.1 Blocked", false],
  ["denies postmaster too", () => unknown, undefined, false],
])("a denial is unknown while an equal or better host %s", async (_, replyTo, greeting, isDown) => {
  const [denying, other] = [await host(empty), await host(replyTo, greeting)];
  if (isDown) await other.close();
  for (const preference of [10, 5]) {
    for (let index = 0; index < 4; index++) {
      const domain = `${index}-${preference}.test`;
      list(domain, [10, denying.host], [preference, other.host]);
      expect(await probe(domain), domain).toMatchObject({ mailbox: null, acceptsAll: null });
    }
  }
});

test("a denial is unknown while an equal host could not be resolved", async () => {
  const denying = await host(empty);
  list("one.test", [10, denying.host], [10, "192.0.2.1"]);
  world.dns.zone["mx1.one.test"] = { rcode: 2 };
  expect(await probe("one.test")).toMatchObject({
    mailbox: null,
    reason: "temporary",
    retryAfterMs: 600_000,
  });
});

test("a denial is unknown while an equal host has no budget left, or until it has answered", async () => {
  const denying = await host(empty);
  const slow = await host(closes, "220-mx ESMTP");
  list("one.test", [10, denying.host], [10, slow.host]);
  const prober = world.prober({ replyMs: 500, budget: { sessions: 1, maxWaitMs: 0 } });
  const results = await Promise.all(["ann", "bob", "cy"].map((local) => probe("one.test", local, prober)));
  for (const result of results) expect(result).toMatchObject({ mailbox: null, acceptsAll: null });
});

test("of more equal hosts than are asked, none that denies a mailbox is believed, and one that accepts is", async () => {
  const hosts = [];
  while (hosts.length < 7) hosts.push(await host(empty));
  list("one.test", ...hosts.map((one) => [10, one.host] as const));
  expect(await probe("one.test")).toMatchObject({ mailbox: null, reason: "temporary" });
  expect(connections(hosts)).toBe(4);
  const last = await host(full);
  list("two.test", ...hosts.slice(0, 3).map((one) => [10, one.host] as const), [10, last.host]);
  expect(await probe("two.test")).toMatchObject({ mailbox: true });
});

test("a host with more addresses than are asked denies a mailbox at four of them", async () => {
  const hosts = [];
  while (hosts.length < 6) hosts.push(await host(full));
  list("one.test", [10, ...hosts.map((one) => one.host)]);
  expect(await probe("one.test", "absent")).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(connections(hosts)).toBe(4);
});

test("a host that is out of reach over IPv6 denies a mailbox over IPv4", async () => {
  const one = await host(full);
  list("one.test", [10, one.host, "2606:4700::1"]);
  const prober = world.prober({
    connect: ({ address, port }) => {
      if (isIPv6(address)) throw new Error("The proxy has no IPv6");
      return connect({ host: address, port });
    },
  });
  expect(await probe("one.test", "absent", prober)).toMatchObject({ mailbox: false });
});

test("a worse host that accepts a mailbox counts after the best one failed", async () => {
  const [best, worse] = [await host(full), await host(full)];
  await best.close();
  list("one.test", [10, best.host], [20, worse.host]);
  expect(await probe("one.test")).toMatchObject({ mailbox: true, acceptsAll: false });
});

test("a best host that greylisted at a worse one is asked before a denial of that one counts", async () => {
  let nowMs = Date.UTC(2030, 0, 1);
  let isDown = true;
  let isGreylisting = true;
  const best = await host((local) => (isDown ? null : full(local)));
  const worse = await host((local) => (isGreylisting ? "450 4.2.0 Greylisted" : empty(local)));
  list("one.test", [10, best.host], [20, worse.host]);
  const prober = world.prober({ now: () => nowMs });
  expect(await probe("one.test", "ann", prober)).toMatchObject({ reason: "greylisted" });
  [isDown, isGreylisting] = [false, false];
  nowMs += 3_600_000;
  expect(await probe("one.test", "ann", prober)).toMatchObject({ mailbox: true });
});
