import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type MailWorld, mailSitesForEach, serveMailbox } from "./mail-site.ts";

let world: MailWorld;
const start = mailSitesForEach((made) => {
  world = made.world;
});

describe("slow verdicts", () => {
  test("greylisting is waited out, and the final verdict is counted", async () => {
    let isOver = false;
    const greylisting = await world.hostileServer(
      (peer) =>
        serveMailbox(peer, "alice", () => (isOver ? "250 OK" : "451 4.7.1 Greylisted, try again later")),
      "127.0.0.6",
    );
    world.route("grey.test", greylisting.host);
    const site = await start({ prober: { greylistMs: 1500 } });
    const verdict = () => site.verdict("alice@grey.test");
    expect(await verdict()).toMatchObject({ status: "unknown", reason: "greylisted" });
    isOver = true;
    expect(await site.used()).toMatchObject({ verifications: 0 });
    await expect.poll(verdict).toMatchObject({ status: "valid" });
    expect(await site.used()).toMatchObject({ verifications: 1 });
    // Probed once before the wait ended and once after it, not on every poll.
    expect(greylisting.lines.filter((line) => line.startsWith("RCPT TO:<alice@"))).toHaveLength(2);
  });
  test("60 addresses of one live domain asked at once all get their verdict, each counted once", async () => {
    let aheadMs = 0;
    const site = await start({
      prober: { budget: { questionsPerMinute: 61 }, now: () => Date.now() + aheadMs },
    });
    const waits: number[] = [];
    const verdictOf = async (email: string) => {
      for (;;) {
        const { status, headers, body } = await site.verify(email, "&max_duration=3");
        if (status !== 202) return [status, body.data?.status];
        waits.push(Number(headers.get("retry-after")));
        // The minute that the reply announces passes at once.
        aheadMs = 61_000;
        await delay(1000);
      }
    };
    const names = ["alice", "bob", ...Array.from({ length: 57 }, (_, index) => `absent${index}`)];
    const asked = names.map((name) => verdictOf(`${name}@people.test`));
    await expect.poll(() => aheadMs).toBeGreaterThan(0);
    // Another address makes the line look at the clock.
    asked.push(verdictOf("absent57@people.test"));
    const verdicts = await Promise.all(asked);
    expect(verdicts).toEqual(asked.map((_, index) => [200, index < 2 ? "valid" : "invalid"]));
    expect(await site.used()).toMatchObject({ verifications: 60 });
    expect(waits.filter((seconds) => seconds > 30)).not.toEqual([]);
  });
});
