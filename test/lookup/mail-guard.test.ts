import { afterEach, expect, test } from "vitest";
import type { HostileMailServer } from "../support/hostile-mail-server.ts";
import { createMailWorld, type MailSite, type MailWorld, startMailSite } from "./mail-site.ts";
import { personOf } from "./people.ts";

const GONE = "550 5.1.1 <x>: Recipient address rejected: User unknown";

let world: MailWorld;
let site: MailSite;
afterEach(async () => {
  await site.close();
  await world.close();
});

/** A lookup, and a mail host with a guard against dictionary attacks: after ten unknown names it denies every name. */
async function start() {
  world = await createMailWorld();
  const guard = { bad: 0 };
  const host = await world.hostileServer(async (peer) => {
    peer.send("220 mx.test ESMTP\r\n");
    for (let line = await peer.line(); line !== null && line !== "QUIT"; line = await peer.line()) {
      const local = /^RCPT TO:<(.*)@/.exec(line)?.[1];
      const isThere = local === undefined || local.startsWith("ok") || local === "postmaster";
      if (!isThere) guard.bad += 1;
      const isDenied = local !== undefined && (!isThere || guard.bad >= 10);
      peer.send(isDenied ? `${GONE}\r\n` : "250 ok\r\n");
    }
    peer.socket.end("221 Bye\r\n");
  });
  world.route("guarded.test", host.host);
  const known = [personOf("ok4.live@guarded.test", { confidence: 80 })];
  site = await startMailSite(world, { known, prober: { budget: { questionsPerMinute: 1000 } } });
  return { host, guard };
}

const emails = (name: string, from: number, to: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => `${name.replace("#", String(from + index))}@guarded.test`,
  );

/** How many sessions and questions a host saw. */
function loadOf({ lines, connections }: HostileMailServer) {
  return { sessions: connections(), questions: lines.filter((line) => line.startsWith("RCPT")).length };
}

test("40 verifications at a host that begins to deny every mailbox mark no live one undeliverable", async () => {
  const { host } = await start();
  const dead = emails("dead#.x", 0, 11);
  const live = emails("ok#.live", 4, 31);
  const answers = await Promise.all([...dead, ...live].map((email) => site.verify(email)));
  const undeliverable = answers.flatMap(({ body: { data } }) =>
    data?.result === "undeliverable" ? [String(data.email)] : [],
  );
  expect(undeliverable.filter((email) => live.includes(email))).toEqual([]);
  // Two of the ten unknown names may be made up, and two sessions may be open when the guard closes.
  expect(undeliverable.length).toBeGreaterThanOrEqual(6);
  const { body } = await site.get("domain-search", "domain=guarded.test");
  expect(body.data?.emails).toMatchObject([{ value: "ok4.live@guarded.test", confidence: 80 }]);
  const { sessions, questions } = loadOf(host);
  expect(sessions).toBe(40);
  // One for each address, a made-up name in each of the first two sessions, and a control for each denial.
  expect(questions).toBeLessThanOrEqual(40 * 2 + 2);
});

test("asked one by one, no live address is undeliverable while the host denies every mailbox, and verdicts are right afterwards", async () => {
  const { guard } = await start();
  for (const email of emails("dead#.x", 0, 11)) await site.verify(email);
  for (const email of emails("ok#.live", 4, 8)) {
    expect(await site.verdict(email)).toEqual({
      http: 200,
      status: "unknown",
      result: "risky",
      reason: "policy",
    });
  }
  guard.bad = 0;
  expect(await site.verdict("ok9.live@guarded.test")).toMatchObject({ status: "valid" });
  expect(await site.verdict("dead12.x@guarded.test")).toMatchObject({
    status: "invalid",
    reason: "user_unknown",
  });
});
