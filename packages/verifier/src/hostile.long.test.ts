import { setTimeout as delay } from "node:timers/promises";
import type { ProbeReason } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { type Peer, serveMail } from "../../../test/support/hostile-mail-server.ts";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

async function probeHostile(
  script: (peer: Peer, connection: number) => void | Promise<void>,
  local = "alice",
) {
  const server = await world.hostileServer(script);
  world.route("bad.test", server.host);
  const prober = world.prober({ replyMs: 1000, connectMs: 1000 });
  const result = await prober.probe(local, "bad.test", { smtp: true, signal: never() });
  await prober.close();
  return { result, server };
}

/** Sends data without end, as fast as the peer reads it. */
async function flood({ socket }: Peer, chunk: Buffer): Promise<void> {
  while (!socket.destroyed) {
    if (!socket.write(chunk)) await Promise.race([drained(socket), delay(20)]);
  }
}

function drained(socket: Peer["socket"]): Promise<void> {
  return new Promise((resolve) => socket.once("drain", () => resolve()));
}

async function drip(peer: Peer, text: string): Promise<void> {
  for (const character of text) {
    if (peer.socket.destroyed) return;
    peer.send(character);
    await delay(100);
  }
}

type Script = (peer: Peer) => void | Promise<void>;

const sends =
  (bytes: string | Buffer): Script =>
  ({ send }) =>
    send(bytes);
const serves =
  (replies: Partial<Record<string, string | null>>): Script =>
  (peer) =>
    serveMail(peer, replies);

/** What a host does, and what a probe reports for it. `speaks` is whether it is known to be a mail server. */
const CASES: [name: string, reason: ProbeReason, speaks: boolean, script: Script][] = [
  ["sends nothing", "timeout", false, () => {}],
  ["closes the connection at once", "no_connection", false, ({ socket }) => void socket.destroy()],
  ["ends its side at once", "no_connection", false, ({ socket }) => void socket.end()],
  ["resets the connection", "no_connection", false, ({ socket }) => void socket.resetAndDestroy()],
  [
    "sends its greeting letter by letter",
    "timeout",
    false,
    (peer) => drip(peer, `220 ${"slow ".repeat(50)}`),
  ],
  [
    "sends a greeting of endless lines",
    "protocol",
    false,
    (peer) => flood(peer, Buffer.from("220-more\r\n".repeat(100))),
  ],
  ["sends an endless line as greeting", "protocol", false, (peer) => flood(peer, Buffer.alloc(65_536, "a"))],
  ["sends a greeting line of 1 MiB", "protocol", false, sends(`220 ${"x".repeat(1 << 20)}\r\n`)],
  ["sends a greeting of 99 long lines", "protocol", false, sends(`220-${"x".repeat(4000)}\r\n`.repeat(99))],
  ["speaks HTTP", "protocol", false, sends("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["sends NULs in its greeting", "protocol", false, sends("220 mx\0.test\r\n")],
  ["sends binary data as greeting", "protocol", false, sends(Buffer.from([0x16, 3, 1, 0, 10, 10, 10]))],
  ["sends different codes in one greeting", "protocol", false, sends("220-mx.test\r\n250 mx.test\r\n")],
  ["sends an unknown code in its greeting", "protocol", false, sends("999 mx.test\r\n")],
  ["ends a line with CR alone", "protocol", false, sends("220 mx\r250 ok\r\n")],
  ["replies before a command", "protocol", true, sends("220 mx.test\r\n250 OK\r\n250 OK\r\n")],
  ["starts a reply before a command", "protocol", true, sends("220 mx.test\r\n250-OK\r\n25")],
  ["sends a thousand greetings", "protocol", true, sends("220 mx.test\r\n".repeat(1000))],
  ["is busy", "temporary", true, serves({ GREETING: "421 4.3.2 Too busy" })],
  ["rejects every client with 554", "policy", true, serves({ GREETING: "554 5.7.1 No user unknown here" })],
  ["accepts no mail (521)", "policy", true, serves({ GREETING: "521 5.3.2 Host does not accept mail" })],
  ["closes the connection at EHLO", "temporary", true, serves({ EHLO: null })],
  ["refuses EHLO and HELO", "policy", true, serves({ EHLO: "550 No", HELO: "550 User unknown" })],
  ["does not reply to EHLO", "timeout", true, serves({ EHLO: "" })],
  ["closes the connection at MAIL", "temporary", true, serves({ MAIL: null })],
  ["refuses MAIL with a text about a mailbox", "policy", true, serves({ MAIL: "550 5.1.1 User unknown" })],
  ["greylists at MAIL", "greylisted", true, serves({ MAIL: "451 4.7.1 Greylisting in action" })],
  ["does not reply to MAIL", "timeout", true, serves({ MAIL: "" })],
  ["closes the connection at RCPT", "temporary", true, serves({ RCPT: null })],
  ["replies to RCPT with 354", "protocol", true, serves({ RCPT: "354 Go ahead" })],
  ["replies to RCPT without a code", "protocol", true, serves({ RCPT: "OK" })],
  ["does not reply to RCPT", "timeout", true, serves({ RCPT: "" })],
  ["refuses RCPT without a reason", "policy", true, serves({ RCPT: "550 No" })],
];

test.each(CASES)("a host that %s yields the reason %s", async (_name, reason, speaks, script) => {
  const { result, server } = await probeHostile(script);
  expect(result).toMatchObject({ routing: "found", server: speaks, mailbox: null, acceptsAll: null, reason });
  await expect.poll(() => server.openConnections()).toBe(0);
});

test("replies that arrive octet by octet, or in lines without CR, are parsed", async () => {
  const { result } = await probeHostile(async (peer) => {
    const say = async (text: string) => {
      for (const character of text) {
        peer.send(character);
        await new Promise(setImmediate);
      }
    };
    peer.socket.setNoDelay(true);
    await say("220-mx.test\r\n220 ready\r\n");
    for (let line = await peer.line(); line !== null; line = await peer.line()) {
      if (line === "QUIT") peer.socket.end("221 Bye\n");
      else if (line.startsWith("RCPT TO:<alice@")) await say("250 2.1.5 OK\n");
      else if (line.startsWith("RCPT")) await say("550-5.1.1 No such user,\r\n550 5.1.1 and never was\r\n");
      else await say("250-mx.test\r\n250-SIZE\r\n250 OK\r\n");
    }
    peer.socket.end();
  });
  expect(result).toMatchObject({ mailbox: true, acceptsAll: false, reason: null });
});

test("a host that rejects EHLO is greeted with HELO", async () => {
  const { result, server } = await probeHostile((peer) => serveMail(peer, { EHLO: "502 What?" }));
  expect(result).toMatchObject({ acceptsAll: true, reason: "accepts_all" });
  expect(server.lines.slice(0, 2)).toEqual(["EHLO probe.outrigger.test", "HELO probe.outrigger.test"]);
});

test("a reply injected before the TLS handshake ends the conversation as a protocol error", async () => {
  const { result } = await probeHostile((peer) =>
    serveMail(peer, { EHLO: "250-mx.test\r\n250 STARTTLS", STARTTLS: "220 Go\r\n250 OK" }),
  );
  expect(result).toMatchObject({ server: true, mailbox: null, reason: "protocol" });
});

test("a host whose TLS handshake fails or never starts is asked without TLS on a new connection", async () => {
  for (const STARTTLS of ["220 Go\r\n", "220 Go"]) {
    const { result, server } = await probeHostile(async (peer, connection) => {
      if (connection > 1) return await serveMail(peer, { EHLO: "250-mx.test\r\n250 STARTTLS" });
      peer.send("220 mx.test\r\n");
      await peer.line();
      peer.send("250-mx.test\r\n250 STARTTLS\r\n");
      await peer.line();
      peer.send(STARTTLS === "220 Go" ? "220 Go\r\n" : STARTTLS);
      if (STARTTLS === "220 Go") peer.socket.once("data", () => peer.send("500 What is this?\r\n"));
    });
    expect(result).toMatchObject({ acceptsAll: true, reason: "accepts_all" });
    expect(server.connections()).toBe(2);
    await server.close();
  }
});

test("a host that does not close the connection after QUIT is disconnected", async () => {
  const { server } = await probeHostile(async (peer) => {
    peer.send("220 mx.test\r\n");
    // The host neither replies to QUIT nor closes its side.
    for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
      peer.send(line.startsWith("RCPT") ? "550 5.1.1 No such user\r\n" : "250 OK\r\n");
    }
  });
  expect(server.lines.at(-1)).toBe("QUIT");
  expect(server.openConnections()).toBe(0);
});

test.each([
  ["closes the connection", null],
  ["does not reply", ""],
  ["refuses the sender", "421 4.7.0 Too many connections"],
])("an accepted mailbox stays accepted if the host then %s at RSET", async (_name, RSET) => {
  const { result } = await probeHostile((peer) => serveMail(peer, { RSET }));
  expect(result).toMatchObject({ server: true, mailbox: true, acceptsAll: null });
  expect(result.reason).not.toBeNull();
});

test("probe rejects with a TypeError for a local part or domain that cannot be part of a command", async () => {
  const prober = world.prober();
  const locals = ["a\r\nDATA", "a\nb", "a\rb", "a\0b", "a>b", "<a", "a b", "a@b", "", "é".repeat(33)];
  const names = ["", "localhost", "one.test\r\nDATA", "One.test", "one.test.", "-a.test", "127.0.0.1>"];
  const domains = [...names, `${"a".repeat(64)}.test`];
  for (const [local, domain] of [
    ...locals.map((each) => [each, "one.test"] as const),
    ...domains.map((each) => ["alice", each] as const),
  ]) {
    const result = prober.probe(local, domain, { smtp: true, signal: never() });
    await expect(result, JSON.stringify([local, domain])).rejects.toThrow(TypeError);
  }
});
