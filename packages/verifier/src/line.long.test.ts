import { setTimeout as delay } from "node:timers/promises";
import type { ProbeResult } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { never, useMailWorld, world } from "../test/mail-world.ts";

useMailWorld();

const recipients = (commands: readonly string[]) => commands.filter((line) => line.startsWith("RCPT"));

test("60 addresses of a live domain asked at once by two accounts all get their verdict", async () => {
  const server = await world.serve("one.test");
  let aheadMs = 0;
  const prober = world.prober({
    budget: { questionsPerMinute: 61 },
    now: () => Date.now() + aheadMs,
  });
  const order: string[] = [];
  const ask = async (local: string, account: string): Promise<ProbeResult> => {
    const result = await prober.probe(local, "one.test", { smtp: true, signal: never(), account });
    order.push(account);
    return result;
  };
  const many = Array.from({ length: 49 }, (_, index) => ask(`n${index}`, "many"));
  const few = ["alice", "bob", ...Array.from({ length: 8 }, (_, index) => `m${index}`)].map((local) =>
    ask(local, "few"),
  );
  const others = await Promise.all(few);
  await expect.poll(() => recipients(server.commands).length).toBeGreaterThan(25);
  await delay(500);
  expect(order.length).toBeLessThan(32);
  // A minute passes. The next probe makes the line look at the clock.
  aheadMs = 61_000;
  many.push(ask("n49", "many"));
  const [alice, bob, ...absent] = [...others, ...(await Promise.all(many))];
  for (const result of [alice, bob]) expect(result).toMatchObject({ mailbox: true, acceptsAll: false });
  for (const result of absent) expect(result).toMatchObject({ mailbox: false, reason: "user_unknown" });
  // The small list is done before the budget of the first minute is used up.
  expect(order.lastIndexOf("few")).toBeLessThan(29);
  // Each denied mailbox has a control. The two first sessions may both ask about a made-up name.
  expect(recipients(server.commands).length).toBeLessThanOrEqual(58 * 2 + 2 + 2);
});

test("a probe reports the estimated wait while it is in line", async () => {
  await world.serve("one.test");
  let nowMs = 1_000_000;
  const prober = world.prober({ budget: { questionsPerMinute: 2 }, now: () => nowMs });
  const controller = new AbortController();
  let waitMs: (() => number) | null = null;
  await prober.probe("alice", "one.test", { smtp: true, signal: never() });
  const waiting = prober.probe("bob", "one.test", {
    ...{ smtp: true, signal: controller.signal },
    onWait: (estimate) => {
      waitMs = estimate;
    },
  });
  const estimated = () => waitMs?.() ?? null;
  await expect.poll(estimated).toBe(60_000);
  nowMs += 40_000;
  expect(estimated()).toBe(20_000);
  controller.abort();
  expect(await waiting).toMatchObject({ reason: "timeout" });
  await expect.poll(estimated).toBe(null);
});
