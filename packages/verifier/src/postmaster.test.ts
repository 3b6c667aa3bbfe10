import { expect, test } from "vitest";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

/** Probes an address at a server that answers each RCPT by its local part and the number of its connection. */
async function probe(replyTo: (local: string, connection: number) => string | null, local = "absent") {
  const asked: string[] = [];
  let nowMs = Date.UTC(2030, 0, 1);
  const objected = new Set<string>();
  /** What is called instead of an answer whether an address may be asked about. */
  const undecided = new Map<string, () => void>();
  const mayAsk = async (address: string) => {
    undecided.get(address)?.();
    return undecided.has(address) ? new Promise<boolean>(() => {}) : !objected.has(address);
  };
  const server = await world.hostileServer(async (peer, connection) => {
    peer.send("220 mx ESMTP\r\n");
    for (let line = await peer.line(); line !== null; line = await peer.line()) {
      const name = /^RCPT TO:<(.*)@/.exec(line)?.[1];
      if (name !== undefined) asked.push(name);
      const reply = name === undefined ? "250 ok" : replyTo(name, connection);
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
  const prober = world.prober({ now: () => nowMs, budget: { questionsPerMinute: 1000 } });
  const ask = (name: string, signal = never()) =>
    prober.probe(name, "one.test", { smtp: true, signal, mayAsk });
  const forget = (name: string) => prober.forget(name, "one.test");
  const pass = (ms: number) => {
    nowMs += ms;
  };
  const result = await ask(local);
  return { result, ask, asked, forget, pass, objected, undecided, close: () => prober.close() };
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

test.each([
  ["550 5.7.1 Mail to postmaster is not accepted", "temporary"],
  ["550 5.1.1 No mailbox here by that name", "policy"],
  ["552 5.2.2 Mailbox full", "policy"],
  ["452 4.5.3 Too many recipients", "temporary"],
  ["421 4.7.0 Too many errors, closing", "temporary"],
  ["450 4.2.0 Greylisted", "greylisted"],
  ["451 4.3.0 Try later", "greylisted"],
  ["454 4.7.1 Relay access denied", "temporary"],
  ["503 5.5.1 Bad sequence of commands", "temporary"],
  ["554 5.7.1 Too many invalid recipients", "temporary"],
])("a server that answers the control with %s denies no mailbox", async (answer, reason) => {
  const { result } = await probe((local) => (local === "postmaster" ? answer : unknown(local)));
  expect(result).toMatchObject({ server: true, mailbox: null, acceptsAll: null, reason });
});

test("a server that hangs up at postmaster denies no mailbox", async () => {
  const { result } = await probe((local) => (local === "postmaster" ? null : unknown(local)));
  expect(result).toMatchObject({ mailbox: null, reason: "temporary", retryAfterMs: 600_000 });
});

test("every denied mailbox has a control of its own", async () => {
  const { ask, asked } = await probe((local) => (local === "postmaster" ? "250 ok" : unknown(local)));
  expect(await ask("another")).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(asked).toEqual(["absent", "postmaster", "another", "postmaster"]);
});

test("for an hour, an accepted mailbox of a domain replaces postmaster as control", async () => {
  const { ask, asked, pass } = await probe((local) => (local === "ann" ? "250 ok" : unknown(local)), "ann");
  expect(await ask("absent")).toMatchObject({ mailbox: false, reason: "user_unknown" });
  expect(asked.splice(0)).toEqual(["ann", expect.stringMatching(/^q\w{20}$/), "absent", "ann"]);
  pass(3_600_000);
  expect(await ask("other")).toMatchObject({ mailbox: null, reason: "policy" });
  expect(asked).toEqual(["other", "postmaster"]);
});

test("an accepted mailbox is no control of itself, nor of others once its address is forgotten", async () => {
  let isGone = false;
  const { ask, asked, forget } = await probe(
    (local) => (local === "postmaster" || (local === "ann" && !isGone) ? "250 ok" : unknown(local)),
    "ann",
  );
  isGone = true;
  expect(await ask("ann")).toMatchObject({ mailbox: false });
  expect(asked.splice(0)).toEqual(["ann", expect.any(String), "ann", "postmaster"]);
  await forget("Ann");
  expect(await ask("absent")).toMatchObject({ mailbox: false });
  expect(asked).toEqual(["absent", "postmaster"]);
});

test("an accepted mailbox is no control after its owner objected", async () => {
  const { ask, asked, objected } = await probe(
    (local) => (local === "postmaster" || local === "ann" ? "250 ok" : unknown(local)),
    "ann",
  );
  objected.add("ann@one.test");
  expect(await ask("absent")).toMatchObject({ mailbox: false });
  expect(asked.slice(2)).toEqual(["absent", "postmaster"]);
});

test("a store that never says whether a mailbox may be control outlasts neither the probe nor the prober", async () => {
  const { ask, asked, undecided, close } = await probe(
    (local) => (local === "ann" ? "250 ok" : unknown(local)),
    "ann",
  );
  const controller = new AbortController();
  undecided.set("ann@one.test", () => controller.abort());
  expect(await ask("absent", controller.signal)).toMatchObject({ mailbox: null });
  await close();
  expect(asked.slice(2)).toEqual(["absent"]);
});

/** A guard against dictionary attacks: after ten unknown names it refuses every name as unknown. */
function guard(words: (local: string) => string = unknown) {
  let bad = 0;
  return {
    reply(local: string) {
      if (bad >= 10) return words(local);
      if (local.startsWith("ok") || local === "postmaster") return "250 ok";
      bad += 1;
      return unknown(local);
    },
    open() {
      bad = 0;
    },
  };
}

const PHRASES = ["User unknown", "No such user", "Mailbox not found", "Recipient does not exist"];

test.each([
  ["in the same words", unknown],
  ["in words that differ each time", (local: string) => `550 5.1.1 ${PHRASES[local.length % 4]}`],
])("a guard that denies every mailbox %s, postmaster included, denies no live one", async (_, words) => {
  const { reply, open } = guard(words);
  const { ask } = await probe(reply, "dead0");
  const dead = [];
  for (let index = 1; index < 12; index++) dead.push((await ask(`dead${index}.x`)).mailbox);
  // The tenth unknown name closed the guard before its control.
  expect(dead).toEqual([...Array(8).fill(false), null, null, null]);
  const live = Array.from({ length: 28 }, (_each, index) => `ok${index}.live`);
  for (const { mailbox, reason } of await Promise.all(live.map((name) => ask(name)))) {
    expect([mailbox, reason]).toEqual([null, "policy"]);
  }
  open();
  expect(await ask("ok1.live")).toMatchObject({ mailbox: true, acceptsAll: false });
  expect(await ask("dead1.x")).toMatchObject({ mailbox: false });
});

test("a guard that opens between a live mailbox and its control denies no live one", async () => {
  let answers = 0;
  const { ask } = await probe((local) => {
    answers += 1;
    // Closed for the answers 3 to 7.
    if (answers > 2 && answers < 8) return unknown(local);
    return local.startsWith("ok") || local === "postmaster" ? "250 ok" : unknown(local);
  });
  expect(await ask("ok1")).toMatchObject({ mailbox: null, reason: "policy" });
  expect(await ask("ok2")).toMatchObject({ mailbox: null, reason: "policy" });
  expect(await ask("ok3")).toMatchObject({ mailbox: null, reason: "temporary" });
  expect(await ask("absent2")).toMatchObject({ mailbox: false, reason: "user_unknown" });
});

test("a guard that spares postmaster denies no live mailbox while another accepted one is known", async () => {
  let isClosed = false;
  const { ask } = await probe(
    (local) => (local === "postmaster" || (local.startsWith("ok") && !isClosed) ? "250 ok" : unknown(local)),
    "ok",
  );
  isClosed = true;
  expect(await ask("ok2")).toMatchObject({ mailbox: null, reason: "policy" });
});

test("a balancer with an empty machine behind it denies no live mailbox", async () => {
  const { ask } = await probe((local, connection) => {
    if (connection % 3 === 0) return unknown(local);
    return local.startsWith("ok") || local === "postmaster" ? "250 ok" : unknown(local);
  });
  const live = [];
  const dead = [];
  for (let index = 0; index < 12; index++) {
    live.push((await ask(`ok${index}`)).mailbox);
    dead.push((await ask(`absent${index}`)).mailbox);
  }
  expect(new Set(live)).toEqual(new Set([true, null]));
  expect(dead.filter((mailbox) => mailbox === false)).toHaveLength(8);
  expect(dead).not.toContain(true);
});
