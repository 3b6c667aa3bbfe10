import { describe, expect, test } from "vitest";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

const FOUND = { routing: "found", server: true, retryAfterMs: null };

describe("a mail server", () => {
  test("that accepts the address and refuses a made-up one yields mailbox: true", async () => {
    const server = await world.serve("one.test");
    const prober = world.prober();
    const result = await prober.probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toEqual({ ...FOUND, mailbox: true, acceptsAll: false, reason: null });
    await prober.close();
    expect(server.commands).toEqual([
      "EHLO probe.outrigger.test",
      "MAIL FROM:<postmaster@outrigger.test>",
      "RCPT TO:<alice@one.test>",
      "RSET",
      "MAIL FROM:<postmaster@outrigger.test>",
      expect.stringMatching(/^RCPT TO:<q[0-9a-z]{20}@one\.test>$/),
      "QUIT",
    ]);
  });

  test("that accepts a made-up address yields acceptsAll, and is not asked about the next mailbox of the domain", async () => {
    const server = await world.serve("catchall.test");
    const prober = world.prober();
    const accepted = { ...FOUND, mailbox: null, acceptsAll: true, reason: "accepts_all" };
    expect(await prober.probe("alice", "catchall.test", { smtp: true, signal: never() })).toEqual(accepted);
    const asked = server.commands.length;
    expect(await prober.probe("carol", "catchall.test", { smtp: true, signal: never() })).toEqual(accepted);
    expect(server.commands).toHaveLength(asked);
  });

  test.each([
    ["absent", { mailbox: false, acceptsAll: false, reason: "user_unknown", retryAfterMs: null }],
    ["full", { mailbox: null, acceptsAll: null, reason: "mailbox_full", retryAfterMs: 3_600_000 }],
    ["disabled", { mailbox: false, acceptsAll: null, reason: "mailbox_disabled", retryAfterMs: null }],
    ["policy", { mailbox: null, acceptsAll: null, reason: "policy", retryAfterMs: null }],
    ["grey", { mailbox: null, acceptsAll: null, reason: "greylisted", retryAfterMs: 300_000 }],
    ["shutdown", { mailbox: null, acceptsAll: null, reason: "temporary", retryAfterMs: 600_000 }],
    ["drop", { mailbox: null, acceptsAll: null, reason: "temporary", retryAfterMs: 600_000 }],
  ])("that answers for %s is understood", async (local, expected) => {
    await world.serve("one.test");
    const result = await world.prober().probe(local, "one.test", { smtp: true, signal: never() });
    expect(result).toEqual({ ...FOUND, ...expected });
  });

  test("that does not reply yields a timeout after replyMs", async () => {
    await world.serve("one.test");
    const prober = world.prober({ replyMs: 500 });
    const result = await prober.probe("tarpit", "one.test", { smtp: true, signal: never() });
    expect(result).toEqual({ ...FOUND, mailbox: null, acceptsAll: null, reason: "timeout" });
  });

  test("with TLS is asked over TLS, whatever its certificate", async () => {
    const server = await world.serve("one.test", { tls: "works" });
    const result = await world.prober().probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toMatchObject({ mailbox: true, reason: null });
    expect(server.commands.slice(0, 4)).toEqual([
      "EHLO probe.outrigger.test",
      "STARTTLS",
      "EHLO probe.outrigger.test",
      "MAIL FROM:<postmaster@outrigger.test>",
    ]);
  });

  test("whose TLS is broken is asked without TLS", async () => {
    const server = await world.serve("one.test", { tls: "broken" });
    const result = await world.prober().probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toMatchObject({ mailbox: true, reason: null });
    expect(server.commands.slice(0, 4)).toEqual([
      "EHLO probe.outrigger.test",
      "STARTTLS",
      "EHLO probe.outrigger.test",
      "MAIL FROM:<postmaster@outrigger.test>",
    ]);
  });

  test("with SMTPUTF8 is asked about a non-ASCII address with SMTPUTF8", async () => {
    const server = await world.serve("one.test", { more: { hideSMTPUTF8: false } });
    const result = await world.prober().probe("δοκιμή", "one.test", { smtp: true, signal: never() });
    expect(result).toMatchObject({ mailbox: true, reason: null });
    expect(server.commands).toContain("MAIL FROM:<postmaster@outrigger.test> SMTPUTF8");
  });

  test("without SMTPUTF8 is not asked about a non-ASCII address", async () => {
    const server = await world.serve("one.test", { more: { hideSMTPUTF8: true } });
    const prober = world.prober();
    const result = await prober.probe("δοκιμή", "one.test", { smtp: true, signal: never() });
    await prober.close();
    expect(result).toMatchObject({ server: true, mailbox: null, reason: "ascii_only" });
    expect(server.commands).toEqual(["EHLO probe.outrigger.test", "QUIT"]);
  });

  test("that refuses the sender ends the probe, without a question to the next host", async () => {
    const refuse = { responseCode: 550, message: "5.7.1 Your host is on our list" };
    const first = await world.mailServer({
      more: { onMailFrom: (_address, _session, done) => done(Object.assign(new Error(), refuse)) },
    });
    const second = await world.mailServer({ host: "127.0.0.2" });
    world.route("one.test", first.host, second.host);
    const result = await world.prober().probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toEqual({ ...FOUND, mailbox: null, acceptsAll: null, reason: "policy" });
    expect(second.commands).toEqual([]);
  });

  test("that is down and has no alternative yields no_connection", async () => {
    const server = await world.serve("one.test");
    await server.close();
    const result = await world.prober().probe("alice", "one.test", { smtp: true, signal: never() });
    expect(result).toEqual({
      ...{ routing: "found", server: false, mailbox: null, acceptsAll: null },
      ...{ reason: "no_connection", retryAfterMs: null },
    });
  });
});
