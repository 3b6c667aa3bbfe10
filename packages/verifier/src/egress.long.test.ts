import { connect } from "node:net";
import { Duplex } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import type { DnsEntry } from "../../../test/support/dns-server.ts";
import { IDENTITY, never, useMailWorld, world } from "../test/mail-world.ts";
import type { VerifyingProber } from "./mail-prober.ts";
import type { ConnectTarget, MailProberOptions } from "./prober-options.ts";

const OWN_HOST = "127.0.3.1";
const EGRESS = { hosts: 5, pauseMs: 60_000, windowMs: 30_000 };

useMailWorld();
let nowMs: number;
/** Hosts that keep silent: connections to them neither succeed nor fail. */
let silent: (address: string) => boolean;
let attempts: string[];

beforeEach(() => {
  nowMs = 1_000_000;
  silent = (address) => address.startsWith("127.0.1.");
  attempts = [];
  for (let index = 1; index <= 30; index++) world.route(`dead${index}.test`, `127.0.1.${index}`);
});

function open({ address, port }: ConnectTarget): Duplex | Promise<Duplex> {
  attempts.push(address);
  if (silent(address)) return new Promise(() => {});
  // As if connected at once: a busy machine may need longer than `connectMs`.
  const socket = connect({ host: address, port });
  return Duplex.from({ readable: socket, writable: socket });
}

/** A `connect` that fails at once for all but the own host, which keeps silent until `failOwn`. */
function openExceptOwn() {
  const timeout = Object.assign(new Error("ETIMEDOUT"), { code: "ETIMEDOUT" });
  let failOwn = () => {};
  const connectMs = 600_000;
  function connect(target: ConnectTarget): Duplex | Promise<Duplex> {
    const stream = open(target);
    if (target.address !== OWN_HOST) return stream instanceof Promise ? Promise.reject(timeout) : stream;
    return new Promise((_, reject) => {
      failOwn = () => reject(timeout);
    });
  }
  return { options: { connect, connectMs }, failOwn: () => failOwn() };
}

const startProber = (options: Parameters<typeof world.prober>[0] = {}) =>
  world.prober({ connect: open, connectMs: 50, now: () => nowMs, egress: EGRESS, ...options });

async function ask(prober: VerifyingProber, domain: string) {
  return await prober.probe("alice", domain, { smtp: true, signal: never() });
}

async function askDead(prober: VerifyingProber, from: number, to: number) {
  const reasons: (string | null)[] = [];
  for (let index = from; index <= to; index++) reasons.push((await ask(prober, `dead${index}.test`)).reason);
  return reasons;
}

const ofControl = () => attempts.filter((address) => address === OWN_HOST);
const times = (count: number, reason: string) => Array.from({ length: count }, () => reason);

test("five silent domains and a silent MX of the own domain yield port_25_blocked, for as long as that MX is silent", async () => {
  await world.serve("live.test");
  world.route("outrigger.test", OWN_HOST);
  silent = () => true;
  const prober = startProber();
  expect(await askDead(prober, 1, 5)).toEqual(times(5, "no_connection"));
  const blocked = { routing: "found", server: null, mailbox: null, reason: "port_25_blocked" };
  expect(await ask(prober, "live.test")).toMatchObject({ ...blocked, retryAfterMs: 60_000 });

  // After the pause only the control is repeated.
  nowMs += 60_000;
  const before = attempts.length;
  expect(await ask(prober, "dead6.test")).toMatchObject({ ...blocked, retryAfterMs: 60_000 });
  expect(attempts.slice(before)).toEqual([OWN_HOST]);

  // The network is open again. The first domain afterwards is a dead one, which changes nothing.
  silent = (address) => address.startsWith("127.0.1.");
  nowMs += 60_000;
  expect(await askDead(prober, 7, 7)).toEqual(["no_connection"]);
  expect(await ask(prober, "live.test")).toMatchObject({ mailbox: true });
});

test("dead domains never block port 25 while the MX of the own domain accepts connections", async () => {
  const own = await world.hostileServer((peer) => void peer.line().then(() => peer.socket.end()), OWN_HOST);
  await world.serve("live.test");
  world.route("outrigger.test", own.host);
  const prober = startProber();
  expect(await askDead(prober, 1, 30)).toEqual(times(30, "no_connection"));
  expect(await ask(prober, "live.test")).toMatchObject({ mailbox: true });
  expect(ofControl()).toHaveLength(1);
  expect(own.connections()).toBe(1);
});

test("a control is repeated at most once a minute", async () => {
  await world.serve("outrigger.test", { host: OWN_HOST });
  const prober = startProber({ egress: { ...EGRESS, windowMs: 600_000 } });
  await askDead(prober, 1, 10);
  nowMs += 59_999;
  await askDead(prober, 11, 15);
  expect(ofControl()).toHaveLength(1);
  nowMs += 1;
  await askDead(prober, 16, 20);
  expect(ofControl()).toHaveLength(2);
});

test.each<[string, Record<string, DnsEntry>, Partial<MailProberOptions>]>([
  ["has no MX", { "outrigger.test": { A: [OWN_HOST] } }, {}],
  ["has a null MX", { "outrigger.test": { MX: [[0, "."]], A: [OWN_HOST] } }, {}],
  ["does not exist", {}, {}],
  ["cannot be resolved", { "outrigger.test": { rcode: 2 } }, {}],
  [
    "has an MX at a forbidden address",
    { "outrigger.test": { MX: [[1, "mx.test"]] }, "mx.test": { A: ["10.0.0.1"] } },
    {},
  ],
  ["is not given: the null sender", {}, { smtp: { ...IDENTITY, mailFrom: "" } }],
])("silent domains never block port 25 if the domain of mailFrom %s", async (_, zone, options) => {
  silent = () => true;
  Object.assign(world.dns.zone, zone);
  expect(await askDead(startProber(options), 1, 12)).toEqual(times(12, "no_connection"));
  expect(attempts).toHaveLength(12);
});

test.each(["ECONNREFUSED", "EHOSTUNREACH", "ECONNRESET", "ENETUNREACH"])(
  "hosts that fail with %s do not count as silent",
  async (code) => {
    world.route("outrigger.test", OWN_HOST);
    const prober = startProber({
      connect({ address }) {
        attempts.push(address);
        throw Object.assign(new Error(code), { code });
      },
    });
    expect(await askDead(prober, 1, 12)).toEqual(times(12, "no_connection"));
    expect(ofControl()).toEqual([]);
  },
);

test.each(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"])(
  "port 25 is not blocked if the MX of the own domain fails with %s",
  async (code) => {
    world.route("outrigger.test", OWN_HOST);
    const prober = startProber({
      connect(target) {
        if (target.address === OWN_HOST) throw Object.assign(new Error(code), { code });
        return open(target);
      },
    });
    expect(await askDead(prober, 1, 12)).toEqual(times(12, "no_connection"));
  },
);

test("neither several silences of one domain, nor old ones, nor those before a success are a reason for a control", async () => {
  await world.serve("live.test");
  world.route("outrigger.test", OWN_HOST);
  world.route("many.test", "127.0.1.41", "127.0.1.42", "127.0.1.43", "127.0.1.44");
  const prober = startProber();
  for (let round = 0; round < 3; round++) await ask(prober, "many.test");
  nowMs += 30_001;
  await askDead(prober, 1, 4);
  expect(await ask(prober, "live.test")).toMatchObject({ mailbox: true });
  await askDead(prober, 5, 8);
  expect(ofControl()).toEqual([]);
});

test("a connection that succeeds during a silent control keeps port 25 open", async () => {
  await world.serve("live.test");
  world.route("outrigger.test", OWN_HOST);
  silent = (address) => address === OWN_HOST || address.startsWith("127.0.1.");
  const { options, failOwn } = openExceptOwn();
  const prober = startProber(options);
  const dead = Promise.all([1, 2, 3, 4, 5].map((index) => ask(prober, `dead${index}.test`)));
  await expect.poll(ofControl).toHaveLength(1);
  expect(await ask(prober, "live.test")).toMatchObject({ mailbox: true });
  failOwn();
  await dead;
  expect(await ask(prober, "live.test")).toMatchObject({ mailbox: true });
});

test("attempts to connect that are aborted after 2 s count as silent, earlier ones do not", async () => {
  world.route("outrigger.test", OWN_HOST);
  const prober = startProber({ connectMs: 600_000 });
  for (const [waitMs, controls] of [
    [500, 0],
    [2100, 1],
  ] as const) {
    attempts = [];
    const controller = new AbortController();
    const { signal } = controller;
    const probes = [1, 2, 3, 4, 5].map((index) =>
      prober.probe("alice", `dead${index}.test`, { smtp: true, signal }),
    );
    await expect.poll(() => attempts).toHaveLength(5);
    setTimeout(() => controller.abort(), waitMs);
    await Promise.all(probes);
    await expect.poll(() => ofControl().length).toBe(controls);
  }
});

test("an abort and a close end the wait for a control", async () => {
  world.route("outrigger.test", OWN_HOST);
  silent = () => true;
  const prober = startProber(openExceptOwn().options);
  const controller = new AbortController();
  const results = [1, 2, 3, 4, 5].map((index) =>
    prober.probe("alice", `dead${index}.test`, { smtp: true, signal: controller.signal }),
  );
  await expect.poll(ofControl).toHaveLength(1);
  controller.abort();
  await Promise.all(results);
  await prober.close();
});
