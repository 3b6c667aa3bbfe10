import { randomBytes, randomInt } from "node:crypto";
import { expect, test } from "vitest";
import type { Peer } from "../../../test/support/hostile-mail-server.ts";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

const PROBES = 400;
const AT_ONCE = 20;
const CODES = [
  220, 221, 250, 250, 250, 250, 250, 251, 252, 354, 421, 450, 451, 452, 500, 502, 530, 550, 550, 552, 553,
  554,
];
const TEXTS = [
  "OK",
  "2.1.5 OK",
  "5.1.1 No such user",
  "User unknown",
  "5.7.1 Blocked using a blocklist",
  "4.7.1 Greylisted for 300 seconds",
  "Mailbox full",
  "STARTTLS",
  "",
];

/** A mail server with random replies, which sometimes sends none and sometimes closes the connection. */
async function talkWildly(peer: Peer, said: string[]): Promise<void> {
  const one = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T; // No list is empty.
  const say = (code: number) => {
    const lines = Array.from({ length: randomInt(1, 4) }, () => one(TEXTS));
    const last = lines.length - 1;
    const text = lines.map((line, index) => `${code}${index === last ? " " : "-"}${line}\r\n`).join("");
    said.push(text);
    const cut = randomInt(text.length);
    peer.send(text.slice(0, cut));
    setImmediate(() => peer.send(text.slice(cut)));
  };
  say(randomInt(10) === 0 ? one(CODES) : 220);
  for (let line = await peer.line(); line !== null; line = await peer.line()) {
    const chance = randomInt(100);
    if (chance < 3) peer.socket.destroy();
    else if (chance < 5) peer.socket.resetAndDestroy();
    else if (chance < 7) peer.send(randomBytes(randomInt(1, 2000)));
    else if (chance < 9) peer.socket.end();
    else if (chance < 60 && !line.startsWith("RCPT")) say(250);
    else if (chance < 98) say(one(CODES));
  }
  peer.socket.end();
}

test("with random replies, a probe ends, sends only permitted commands, and denies a mailbox only after a refusal", async () => {
  const said = new Map<string, string[]>();
  const addresses = Array.from({ length: 200 }, (_, index) => `127.0.3.${index + 1}`);
  for (const address of addresses) {
    const texts: string[] = [];
    said.set(address, texts);
    await world.hostileServer((peer) => talkWildly(peer, texts), address);
  }
  const prober = world.prober({ replyMs: 300, greylistMs: 1 });
  const reasons = new Set<string | null>();
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let index = next++; index < PROBES; index = next++) {
        const address = addresses[index % addresses.length] ?? "";
        const domain = `d${index}.test`;
        world.route(domain, address);
        const result = await prober.probe(`user${index}`, domain, { smtp: true, signal: never() });
        expect(result.routing).toBe("found");
        if (result.mailbox === false) {
          expect(["user_unknown", "mailbox_full", "mailbox_disabled"]).toContain(result.reason);
          expect(said.get(address)?.join("")).toMatch(/^5/m);
        }
        if (result.mailbox === null) expect(result.reason).not.toBeNull();
        reasons.add(result.reason);
      }
    }),
  );
  for (const reason of ["policy", "greylisted", "temporary", "timeout", "protocol"]) {
    expect([...reasons]).toContain(reason);
  }
});
