import { afterEach, beforeEach, expect, test } from "vitest";
import { createMailWorld, type MailWorld, never } from "../test/mail-world.ts";

let world: MailWorld;
beforeEach(async () => {
  world = await createMailWorld();
});
afterEach(() => world.close());

/** Probes an address at a server that answers each RCPT by its local part. */
async function probe(replyTo: (local: string) => string | null, local = "absent") {
  const asked: string[] = [];
  const server = await world.hostileServer(async (peer) => {
    peer.send("220 mx ESMTP\r\n");
    for (let line = await peer.line(); line !== null; line = await peer.line()) {
      const name = /^RCPT TO:<(.*)@/.exec(line)?.[1];
      if (name !== undefined) asked.push(name);
      const reply = name === undefined ? "250 ok" : replyTo(name);
      if (reply === null) {
        peer.socket.destroy();
        return;
      }
      peer.send(`${reply}\r\n`);
      if (line === "QUIT") break;
    }
    peer.socket.end();
  });
  world.route("one.test", server.host);
  const prober = world.prober();
  const ask = (name: string) => prober.probe(name, "one.test", { smtp: true, signal: never() });
  return { result: await ask(local), ask, asked };
}

const unknown = (local: string) => `550 5.1.1 <${local}@one.test>: User unknown (id ${Math.random()})`;

test("a mailbox is denied after the server has accepted postmaster", async () => {
  const { result, asked } = await probe((local) => (local === "postmaster" ? "250 ok" : unknown(local)));
  expect(result).toMatchObject({ mailbox: false, acceptsAll: false, reason: "user_unknown" });
  expect(asked).toEqual(["absent", "postmaster"]);
});

test("a server that refuses postmaster in the same words denies no mailbox", async () => {
  const { result } = await probe(unknown);
  expect(result).toMatchObject({ server: true, mailbox: null, acceptsAll: null, reason: "policy" });
});

test("a server that refuses postmaster in other words denies a mailbox", async () => {
  const { result } = await probe((local) =>
    local === "postmaster" ? "550 5.7.1 Mail to postmaster is not accepted" : unknown(local),
  );
  expect(result).toMatchObject({ mailbox: false, reason: "user_unknown" });
});

test("a server that hangs up at postmaster denies no mailbox", async () => {
  const { result } = await probe((local) => (local === "postmaster" ? null : unknown(local)));
  expect(result).toMatchObject({ mailbox: null, reason: "temporary", retryAfterMs: 600_000 });
});

test("a server that defers postmaster denies no mailbox", async () => {
  const { result } = await probe((local) =>
    local === "postmaster" ? "451 4.3.0 Try later" : unknown(local),
  );
  expect(result).toMatchObject({ mailbox: null, retryAfterMs: expect.any(Number) });
});

test("postmaster is asked about once per domain", async () => {
  const { ask, asked } = await probe((local) => (local === "postmaster" ? "250 ok" : unknown(local)));
  expect(await ask("another")).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(asked).toEqual(["absent", "postmaster", "another"]);
});

test("an accepted mailbox of a domain replaces the question about postmaster", async () => {
  const { ask, asked } = await probe((local) => (local === "ann" ? "250 ok" : unknown(local)), "ann");
  expect(await ask("absent")).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(asked).toEqual(["ann", expect.stringMatching(/^q\w{20}$/), "absent"]);
});
