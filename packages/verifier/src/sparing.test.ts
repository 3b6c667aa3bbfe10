import { once } from "node:events";
import { createServer } from "node:net";
import type { ProbeResult } from "@outrigger/core";
import { isServiceError } from "@outrigger/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveMail } from "../../../test/support/hostile-mail-server.ts";
import { createMailWorld, type MailWorld, never } from "../test/mail-world.ts";

let world: MailWorld;
beforeEach(async () => {
  world = await createMailWorld();
});
afterEach(() => world.close());

const asking = () => ({ smtp: true, signal: never() });

test("a host has no more sessions at a time than its budget, however many ask", async () => {
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

test("a host is asked no more questions in a minute than its budget; the others are told when to come back", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
  let nowMs = 1_000_000;
  const budget = { sessions: 100, questionsPerMinute: 10, maxWaitMs: 1000 };
  const prober = world.prober({ budget, now: () => nowMs });
  const ask = (prefix: string) =>
    Promise.all(
      Array.from({ length: 15 }, (_, index) => prober.probe(`${prefix}${index}`, "one.test", asking())),
    );
  // The first one leaves the made-up name unasked, for its own was refused.
  const results: ProbeResult[] = [];
  for (let index = 0; index < 15; index++)
    results.push(await prober.probe(`a${index}`, "one.test", asking()));
  const refused = results.filter(({ reason }) => reason === "budget");
  expect(server.commands.filter((line) => line.startsWith("RCPT"))).toHaveLength(9);
  expect(refused).toHaveLength(6);
  expect(refused.every(({ retryAfterMs }) => retryAfterMs === 60_000)).toBe(true);
  expect(refused.every(({ mailbox, server }) => mailbox === null && server === null)).toBe(true);
  nowMs += 60_000;
  await ask("b");
  expect(server.commands.filter((line) => line.startsWith("RCPT")).length).toBeLessThanOrEqual(19);
});

test("who waits for a turn for too long is told that it is the budget", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
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

test("those who ask the same at the same time share one conversation", async () => {
  const server = await world.mailServer();
  world.route("one.test", server.host);
  const prober = world.prober();
  const results = await Promise.all(
    Array.from({ length: 20 }, () => prober.probe("nobody", "one.test", asking())),
  );
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  expect(server.commands.filter((line) => line.startsWith("RCPT"))).toHaveLength(1);
  expect(world.dns.questions.filter((question) => question.startsWith("MX"))).toHaveLength(1);
});

test("who gives up gets what is known at once; who shares the question gets its answer", async () => {
  const server = await world.hostileServer(async (peer) => {
    peer.send("220 mx.test\r\n");
    await gate;
    await serveMail(peer, { GREETING: "", RCPT: "550 5.1.1 No such user" });
  });
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  world.route("one.test", server.host);
  const prober = world.prober({ replyMs: 30_000 });
  const controller = new AbortController();
  const impatient = prober.probe("alice", "one.test", { smtp: true, signal: controller.signal });
  const patient = prober.probe("alice", "one.test", asking());
  await expect.poll(() => server.lines.length).toBe(1);
  controller.abort();
  expect(await impatient).toMatchObject({ routing: "found", mailbox: null, reason: "timeout" });
  open();
  expect(await patient).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(server.connections()).toBe(1);
});

test("when nobody waits any more, nothing stays open", async () => {
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
  await expect.poll(() => server.openConnections(), { timeout: 10_000 }).toBe(0);
});

test("a question whose asker is gone already asks nothing", async () => {
  const result = await world.prober().probe("alice", "one.test", { smtp: true, signal: AbortSignal.abort() });
  expect(result).toMatchObject({ routing: "unknown", server: null, mailbox: null, reason: "timeout" });
});

test("all of a probe has a deadline, too", async () => {
  const server = await world.hostileServer(() => {});
  world.route("one.test", server.host);
  const prober = world.prober({ replyMs: 60_000, wholeMs: 500 });
  expect(await prober.probe("alice", "one.test", asking())).toMatchObject({
    routing: "found",
    reason: "timeout",
  });
  await expect.poll(() => server.openConnections(), { timeout: 10_000 }).toBe(0);
});

test("when it is closed, what is under way ends and nothing begins", async () => {
  const server = await world.hostileServer(() => {});
  world.route("one.test", server.host);
  const prober = world.prober({ replyMs: 60_000 });
  const result = prober.probe("alice", "one.test", asking());
  await expect.poll(() => server.openConnections()).toBe(1);
  await prober.close();
  expect(await result).toMatchObject({ reason: "timeout" });
  await expect.poll(() => server.openConnections(), { timeout: 10_000 }).toBe(0);
  const error = await prober.probe("alice", "one.test", asking()).catch((reason: unknown) => reason);
  expect(isServiceError(error, "store_unavailable")).toBe(true);
  await prober.close();
});

test.each([
  ["where it is not wanted", true, false],
  ["where nobody is named to ask", false, true],
])("mail hosts are not asked %s", async (_name, hasIdentity, smtp) => {
  const server = await world.hostileServer((peer) => serveMail(peer));
  world.route("one.test", server.host);
  const prober = world.prober(hasIdentity ? {} : { smtp: undefined as never });
  expect(await prober.probe("alice", "one.test", { smtp, signal: never() })).toEqual({
    ...{ routing: "found", server: null, mailbox: null, acceptsAll: null },
    ...{ reason: "not_probed", retryAfterMs: null },
  });
  expect(server.connections()).toBe(0);
});

test("when no host of several domains can be connected to, port 25 is blocked until one can", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const bound = holder.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : 0;
  let nowMs = 0;
  const prober = world.prober({
    port,
    now: () => nowMs,
    egress: { hosts: 4, pauseMs: 60_000, windowMs: 30_000 },
  });
  const ask = async (domain: string) => await prober.probe("alice", domain, asking());
  for (let index = 1; index <= 9; index++) world.route(`d${index}.test`, `127.0.1.${index}`);
  world.route("many.test", "127.0.2.1", "127.0.2.2", "127.0.2.3", "127.0.2.4");

  // One domain whose hosts are all down says nothing of this machine, nor do failures that are long past.
  expect((await ask("many.test")).reason).toBe("no_connection");
  expect((await ask("many.test")).reason).toBe("no_connection");
  nowMs += 30_001;
  for (const domain of ["d1.test", "d2.test", "d3.test", "d4.test"]) {
    expect(await ask(domain)).toMatchObject({ server: false, reason: "no_connection" });
  }
  const blocked = { routing: "found", server: null, mailbox: null, reason: "port_25_blocked" };
  expect(await ask("d5.test")).toMatchObject({ ...blocked, retryAfterMs: 60_000 });

  // After the pause one is let through, and fails.
  nowMs += 60_000;
  expect(await ask("d6.test")).toMatchObject({ reason: "no_connection" });
  expect(await ask("d7.test")).toMatchObject(blocked);

  // The next one gets through, and so does everybody.
  nowMs += 60_000;
  holder.close();
  await once(holder, "close");
  const server = await world.mailServer({ host: "127.0.1.8", port });
  expect(await ask("d8.test")).toMatchObject({ mailbox: true });
  expect(await ask("d9.test")).toMatchObject({ reason: "no_connection" });
  expect(server.commands.length).toBeGreaterThan(0);
});

test("hosts that never answer a connection count as such, and one that does clears all", async () => {
  const server = await world.hostileServer(() => {});
  world.route("up.test", server.host);
  for (let index = 1; index <= 3; index++) world.route(`d${index}.test`, `127.0.1.${index}`);
  const prober = world.prober({ egress: { hosts: 4 }, replyMs: 200 });
  for (let round = 0; round < 2; round++) {
    for (let index = 1; index <= 3; index++) await prober.probe("alice", `d${index}.test`, asking());
    expect(await prober.probe("alice", "up.test", asking())).toMatchObject({ reason: "timeout" });
  }
  expect((await prober.probe("alice", "d1.test", asking())).reason).toBe("no_connection");
});
