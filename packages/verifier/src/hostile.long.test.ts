import { setTimeout as delay } from "node:timers/promises";
import type { ProbeReason } from "@outrigger/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Peer, serveMail } from "../../../test/support/hostile-mail-server.ts";
import { createMailWorld, type MailWorld, never } from "../test/mail-world.ts";

let world: MailWorld;
beforeEach(async () => {
  world = await createMailWorld();
});
afterEach(() => world.close());

/** Far more than any of them may take; each ends by a deadline of its own. */
const END_MS = 15_000;

async function probeHostile(
  script: (peer: Peer, connection: number) => void | Promise<void>,
  local = "alice",
) {
  const server = await world.hostileServer(script);
  world.route("bad.test", server.host);
  const prober = world.prober({ replyMs: 1000, connectMs: 1000 });
  const begunMs = performance.now();
  const result = await prober.probe(local, "bad.test", { smtp: true, signal: never() });
  expect(performance.now() - begunMs).toBeLessThan(END_MS);
  await prober.close();
  return { result, server };
}

/** Sends without end, as fast as it is taken. */
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

const CASES: [
  name: string,
  reason: ProbeReason,
  hasSpoken: boolean,
  script: (peer: Peer) => void | Promise<void>,
][] = [
  ["says nothing", "timeout", false, () => {}],
  ["hangs up at once", "no_connection", false, ({ socket }) => void socket.destroy()],
  ["ends its side at once", "no_connection", false, ({ socket }) => void socket.end()],
  ["resets the connection", "no_connection", false, ({ socket }) => void socket.resetAndDestroy()],
  ["greets letter by letter", "timeout", false, (peer) => drip(peer, `220 ${"slow ".repeat(50)}`)],
  [
    "greets without end, in lines",
    "protocol",
    false,
    (peer) => flood(peer, Buffer.from("220-more\r\n".repeat(100))),
  ],
  ["greets without end, in one line", "protocol", false, (peer) => flood(peer, Buffer.alloc(65_536, "a"))],
  ["greets in a line of a megabyte", "protocol", false, ({ send }) => send(`220 ${"x".repeat(1 << 20)}\r\n`)],
  ["greets in long lines", "protocol", false, ({ send }) => send(`220-${"x".repeat(4000)}\r\n`.repeat(99))],
  ["speaks HTTP", "protocol", false, ({ send }) => send("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["greets with NULs", "protocol", false, ({ send }) => send("220 mx\0.test\r\n")],
  ["greets with bytes", "protocol", false, ({ send }) => send(Buffer.from([0x16, 3, 1, 0, 10, 10, 10]))],
  ["greets with codes that differ", "protocol", false, ({ send }) => send("220-mx.test\r\n250 mx.test\r\n")],
  ["greets with a code that there is none of", "protocol", false, ({ send }) => send("999 mx.test\r\n")],
  ["breaks a line by CR alone", "protocol", false, ({ send }) => send("220 mx\r250 ok\r\n")],
  ["answers before it is asked", "protocol", true, ({ send }) => send("220 mx.test\r\n250 OK\r\n250 OK\r\n")],
  [
    "begins to answer before it is asked",
    "protocol",
    true,
    ({ send }) => send("220 mx.test\r\n250-OK\r\n25"),
  ],
  ["answers a thousand times", "protocol", true, ({ send }) => send("220 mx.test\r\n".repeat(1000))],
  ["is busy", "temporary", true, (peer) => serveMail(peer, { GREETING: "421 4.3.2 Too busy" })],
  [
    "is closed for all",
    "policy",
    true,
    (peer) => serveMail(peer, { GREETING: "554 5.7.1 No user unknown here" }),
  ],
  [
    "takes no mail at all",
    "policy",
    true,
    (peer) => serveMail(peer, { GREETING: "521 5.3.2 Host does not accept mail" }),
  ],
  ["hangs up at EHLO", "temporary", true, (peer) => serveMail(peer, { EHLO: null })],
  [
    "refuses EHLO and HELO",
    "policy",
    true,
    (peer) => serveMail(peer, { EHLO: "550 No", HELO: "550 User unknown" }),
  ],
  ["says nothing at EHLO", "timeout", true, (peer) => serveMail(peer, { EHLO: "" })],
  ["hangs up at MAIL", "temporary", true, (peer) => serveMail(peer, { MAIL: null })],
  [
    "refuses MAIL with words for a mailbox",
    "policy",
    true,
    (peer) => serveMail(peer, { MAIL: "550 5.1.1 User unknown" }),
  ],
  [
    "greylists at MAIL",
    "greylisted",
    true,
    (peer) => serveMail(peer, { MAIL: "451 4.7.1 Greylisting in action" }),
  ],
  ["says nothing at MAIL", "timeout", true, (peer) => serveMail(peer, { MAIL: "" })],
  ["hangs up at RCPT", "temporary", true, (peer) => serveMail(peer, { RCPT: null })],
  ["wants data at RCPT", "protocol", true, (peer) => serveMail(peer, { RCPT: "354 Go ahead" })],
  ["answers RCPT with garbage", "protocol", true, (peer) => serveMail(peer, { RCPT: "OK" })],
  ["says nothing at RCPT", "timeout", true, (peer) => serveMail(peer, { RCPT: "" })],
  ["refuses for it knows not what", "policy", true, (peer) => serveMail(peer, { RCPT: "550 No" })],
];

test.each(CASES)("a host that %s is %s", async (_name, reason, hasSpoken, script) => {
  const { result, server } = await probeHostile(script);
  expect(result).toMatchObject({
    routing: "found",
    server: hasSpoken,
    mailbox: null,
    acceptsAll: null,
    reason,
  });
  await expect.poll(() => server.openConnections(), { timeout: END_MS }).toBe(0);
});

test("replies that come octet by octet, or in lines without CR, are read", async () => {
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

test("a host without EHLO is greeted by HELO", async () => {
  const { result, server } = await probeHostile((peer) => serveMail(peer, { EHLO: "502 What?" }));
  expect(result).toMatchObject({ acceptsAll: true, reason: "accepts_all" });
  expect(server.lines.slice(0, 2)).toEqual(["EHLO probe.outrigger.test", "HELO probe.outrigger.test"]);
});

test("what is slipped in before encryption is not taken for what comes after it", async () => {
  const { result } = await probeHostile((peer) =>
    serveMail(peer, { EHLO: "250-mx.test\r\n250 STARTTLS", STARTTLS: "220 Go\r\n250 OK" }),
  );
  expect(result).toMatchObject({ server: true, mailbox: null, reason: "protocol" });
});

test("a host that breaks off, or never begins, encryption is talked to without it on a new connection", async () => {
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

test("a host that does not let go of us is hung up on", async () => {
  const { server } = await probeHostile(async (peer) => {
    peer.send("220 mx.test\r\n");
    // It neither says goodbye nor ends its side.
    for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
      peer.send(line.startsWith("RCPT") ? "550 5.1.1 No such user\r\n" : "250 OK\r\n");
    }
  });
  expect(server.lines.at(-1)).toBe("QUIT");
  expect(server.openConnections()).toBe(0);
});

test.each([
  ["drops the line", null],
  ["says nothing", ""],
  ["refuses us", "421 4.7.0 Too many connections"],
])("what a host has said of the mailbox holds when it %s at the next question", async (_name, RSET) => {
  const { result } = await probeHostile((peer) => serveMail(peer, { RSET }));
  expect(result).toMatchObject({ server: true, mailbox: true, acceptsAll: null });
  expect(result.reason).not.toBeNull();
});

test.each(["a\r\nDATA", "a\nb", "a\rb", "a\0b", "a>b", "<a", "a b", "a@b", "", "é".repeat(33)])(
  "a local part that could not be in a command is a mistake of the caller: %j",
  async (local) => {
    const prober = world.prober();
    await expect(prober.probe(local, "one.test", { smtp: true, signal: never() })).rejects.toThrow(TypeError);
  },
);

test.each([
  "",
  "localhost",
  "one.test\r\nDATA",
  "One.test",
  "one.test.",
  "-a.test",
  "127.0.0.1>",
  `${"a".repeat(64)}.test`,
])("a domain that could not be in a command is a mistake of the caller: %j", async (domain) => {
  const prober = world.prober();
  await expect(prober.probe("alice", domain, { smtp: true, signal: never() })).rejects.toThrow(TypeError);
});
