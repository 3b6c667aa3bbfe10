import { isServiceError } from "@outrigger/core";
import type { ProbeResult } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { serveMail } from "../../../test/support/hostile-mail-server.ts";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

const asking = () => ({ smtp: true, signal: never() });

test("concurrent probes open at most as many sessions at a host as its budget allows", async () => {
  const server = await world.mailServer();
  for (const domain of ["one.test", "two.test"]) world.route(domain, server.host);
  const prober = world.prober({ budget: { sessions: 3, questionsPerMinute: 1000, maxWaitMs: 60_000 } });
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      prober.probe(`n${index}`, index % 2 ? "one.test" : "two.test", asking()),
    ),
  );
  expect(results.every(({ reason }) => reason === "user_unknown")).toBe(true);
  expect(server.mostSessions()).toBe(3);
});

test("probes beyond the questions per minute of a host end with budget and a retry time", async () => {
  const server = await world.serve("one.test");
  let nowMs = 1_000_000;
  const budget = { sessions: 100, questionsPerMinute: 10, maxWaitMs: 1000 };
  const prober = world.prober({ budget, now: () => nowMs });
  const ask = (prefix: string) =>
    Promise.all(
      Array.from({ length: 15 }, (_, index) => prober.probe(`${prefix}${index}`, "one.test", asking())),
    );
  // Each denied mailbox has postmaster as its control.
  const results: ProbeResult[] = [];
  for (let index = 0; index < 15; index++)
    results.push(await prober.probe(`a${index}`, "one.test", asking()));
  const refused = results.filter(({ reason }) => reason === "budget");
  expect(server.commands.filter((line) => line.startsWith("RCPT"))).toHaveLength(10);
  expect(refused).toHaveLength(10);
  expect(refused.every(({ retryAfterMs }) => retryAfterMs === 60_000)).toBe(true);
  expect(refused.every(({ mailbox, server }) => mailbox === null && server === null)).toBe(true);
  nowMs += 60_000;
  await ask("b");
  expect(server.commands.filter((line) => line.startsWith("RCPT")).length).toBeLessThanOrEqual(20);
});

test("a probe that waits longer than maxWaitMs for its turn ends with budget", async () => {
  const server = await world.serve("one.test");
  const prober = world.prober({
    budget: { sessions: 1, questionsPerMinute: 100, maxWaitMs: 500 },
    replyMs: 2000,
  });
  const first = prober.probe("tarpit", "one.test", asking());
  await expect.poll(() => server.commands.length).toBeGreaterThan(0);
  const second = await prober.probe("alice", "one.test", asking());
  expect(second).toMatchObject({ routing: "found", server: null, mailbox: null, reason: "budget" });
  expect(second.retryAfterMs).toBeGreaterThan(0);
  expect(await first).toMatchObject({ reason: "timeout" });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({ mailbox: true });
});

test("an aborted probe returns the partial result at once", async () => {
  const server = await world.hostileServer((peer) => peer.send("220 mx.test\r\n"));
  world.route("one.test", server.host);
  const prober = world.prober({ replyMs: 30_000 });
  const controller = new AbortController();
  const result = prober.probe("alice", "one.test", { smtp: true, signal: controller.signal });
  await expect.poll(() => server.lines.length).toBe(1);
  controller.abort();
  // The host has sent its greeting.
  expect(await result).toMatchObject({ routing: "found", server: true, mailbox: null, reason: "timeout" });
});

test("when the caller of a probe aborts, its connection is closed", async () => {
  const server = await world.hostileServer(() => {});
  world.route("one.test", server.host);
  world.dns.zone["silent.test"] = { drops: true };
  const prober = world.prober({ replyMs: 60_000, dnsMs: 60_000 });
  const controller = new AbortController();
  const results = ["one.test", "silent.test"].map((domain) =>
    prober.probe("alice", domain, { smtp: true, signal: controller.signal }),
  );
  await expect.poll(() => server.openConnections()).toBe(1);
  controller.abort();
  expect(await Promise.all(results)).toMatchObject([
    { routing: "found", reason: "timeout" },
    { routing: "unknown", reason: "timeout" },
  ]);
  await expect.poll(() => server.openConnections()).toBe(0);
});

test.each([
  ["the caller aborts", { replyMs: 60_000 }],
  ["replyMs is over", { replyMs: 300 }],
])("a host that spoke and delays its reply to RCPT is a mail server when %s", async (_, limits) => {
  const slow = await world.hostileServer((peer) => serveMail(peer, { RCPT: "" }));
  world.route("slow.test", slow.host);
  world.route("also-down.test", slow.host, "127.0.0.77");
  const prober = world.prober(limits);
  const controller = new AbortController();
  const results = ["slow.test", "also-down.test"].map((domain) =>
    prober.probe("alice", domain, { smtp: true, signal: controller.signal }),
  );
  await expect.poll(() => slow.lines.filter((line) => line.startsWith("RCPT")).length).toBe(2);
  if (limits.replyMs > 1000) controller.abort();
  expect(await Promise.all(results)).toMatchObject([
    { server: true, mailbox: null, reason: "timeout" },
    { server: true, mailbox: null, reason: "timeout" },
  ]);
});

test("a host that spoke is a mail server when the second connection, without TLS, fails", async () => {
  const server = await world.hostileServer(async (peer, connection) => {
    if (connection === 2) return void peer.socket.destroy();
    peer.send("220 mx.test\r\n");
    await peer.line();
    peer.send("250-mx.test\r\n250 STARTTLS\r\n");
    await peer.line();
    peer.socket.end("220 go\r\n");
  });
  world.route("one.test", server.host);
  const result = await world.prober({ replyMs: 2000 }).probe("alice", "one.test", asking());
  expect(result).toMatchObject({ server: true, mailbox: null, reason: "temporary" });
});

test("a closed prober has no connection and rejects probes", async () => {
  const server = await world.hostileServer(() => {});
  world.route("one.test", server.host);
  const prober = world.prober({ replyMs: 60_000 });
  const result = prober.probe("alice", "one.test", asking());
  await expect.poll(() => server.openConnections()).toBe(1);
  await prober.close();
  expect(await result).toMatchObject({ reason: "timeout" });
  await expect.poll(() => server.openConnections()).toBe(0);
  const error = await prober.probe("alice", "one.test", asking()).catch((reason: unknown) => reason);
  expect(isServiceError(error, "store_unavailable")).toBe(true);
});

test.each([
  ["if the caller does not request SMTP", true, false],
  ["if the prober has no identity", false, true],
])("mail hosts are not contacted %s", async (_name, hasIdentity, smtp) => {
  const server = await world.hostileServer((peer) => serveMail(peer));
  world.route("one.test", server.host);
  const prober = world.prober(hasIdentity ? {} : { smtp: undefined as never });
  const unasked = { server: null, mailbox: null, acceptsAll: null, reason: "not_probed", retryAfterMs: null };
  const result = await prober.probe("alice", "one.test", { smtp, signal: never() });
  expect(result).toEqual({ routing: "found", ...unasked });
  expect(server.connections()).toBe(0);
});
