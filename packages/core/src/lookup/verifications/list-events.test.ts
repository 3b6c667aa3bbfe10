import { expect, test, vi } from "vitest";
import { afterEachTest } from "../../../../../test/support/hooks.ts";
import { type Received, SECRET, startReceiver, webhooksTo } from "../../../test/event-site.ts";
import { siteOf } from "../../../test/lookup-library-site.ts";
import { createWebhooks } from "../../http/webhooks.ts";
import { createMemoryVerificationQueue } from "../memory/memory-verification-queue.ts";
import { ListEvents } from "./list-events.ts";
import { CLAIMED } from "./row-result.ts";

const DAY = 86_400_000;

const open = new Set<ListEvents>();

afterEachTest(async () => {
  for (const events of open) await events.close();
  open.clear();
});

/** Processes on one queue with a finished list. Each looks for events when it starts. */
async function processesWith(options: ReturnType<typeof webhooksTo>) {
  const clock = { now: 1_790_000_000_000 };
  const queue = createMemoryVerificationQueue();
  const settle = vi.spyOn(queue, "settleEnd");
  const errors: unknown[] = [];
  const warnings: object[] = [];
  const start = (given = options) => {
    const events = new ListEvents({
      queue,
      webhooks: createWebhooks(given),
      now: () => clock.now,
      onError: (error) => errors.push(error),
      log: { warn: (fields) => warnings.push(fields) },
    });
    open.add(events);
    return events;
  };
  const first = start();
  const list = { id: "list", account: "acme", plan: "free", header: null, createdAt: clock.now };
  const row = { email: "", subject: null, columns: null, result: CLAIMED };
  await queue.add(list, [row, row], null, undefined, first.end());
  const settled = (waiting: number) =>
    expect.poll(async () => (await queue.countEnds()).waiting).toBe(waiting);
  /** Starts a process after a time, and ends it once each receiver has an outcome. */
  const next = async (afterMs: number, given = options) => {
    clock.now += afterMs;
    settle.mockClear();
    const events = start(given);
    await expect.poll(() => settle).toHaveBeenCalledOnce();
    await events.close();
    return events;
  };
  return { clock, queue, errors, warnings, start, settled, next, first };
}

test("a finished list is announced with its counts and without an address", async () => {
  const receiver = await startReceiver();
  const { lookup, account } = await siteOf({ webhooks: webhooksTo(receiver) });
  const { id } = await lookup.verifyEmails(["ann@a.example", "no address"], { account });
  await expect.poll(() => receiver.events).toHaveLength(1);
  const [{ type, data: sent, text }] = receiver.events as [Received];
  expect(type).toBe("verification.done");
  const counts = { valid: 1, invalid: 1 };
  expect(sent).toEqual({ list: { id, account, status: "done", total: 2, counts } });
  expect(text).not.toContain("a.example");
});

test("a receiver that fails is tried again with the same ID, and the other one is not", async () => {
  const [good, bad] = [
    await startReceiver(),
    await startReceiver((response) => response.writeHead(500).end()),
  ];
  const { warnings, settled, next } = await processesWith(webhooksTo(good, bad));
  await next(0);
  expect([good.events.length, bad.events.length]).toEqual([1, 1]);
  expect(JSON.stringify(warnings)).toContain(bad.host);
  expect(JSON.stringify(warnings)).not.toContain(SECRET.slice("whsec_".length));
  bad.answer = (response) => response.writeHead(204).end();
  await next(10_000);
  await settled(0);
  expect([good.events.length, bad.events.length]).toEqual([1, 2]);
  expect(bad.events[0]?.id).toBe(bad.events[1]?.id);
  expect(bad.events[0]?.id).toBe(good.events[0]?.id);
});

test("a receiver that does not answer delays no other one, and its event outlives the process", async () => {
  const [slow, good] = [await startReceiver(() => {}), await startReceiver()];
  const { start, settled, next, first } = await processesWith(webhooksTo(slow, good));
  await first.close();
  const events = start();
  await expect.poll(() => [slow.events.length, good.events.length]).toEqual([1, 1]);
  await events.close();
  await settled(1);
  slow.answer = (response) => response.writeHead(204).end();
  await next(0);
  await settled(0);
  expect([slow.events.length, good.events.length]).toEqual([2, 1]);
});

test("an event is given up after seven days or a 410, and reported", async () => {
  const gone = await startReceiver((response) => response.writeHead(410).end());
  const bad = await startReceiver((response) => response.writeHead(500).end());
  const { queue, errors, next } = await processesWith(webhooksTo(gone, bad));
  await next(0);
  expect(await queue.countEnds()).toMatchObject({ waiting: 1, dead: 1 });
  expect(String(errors)).toContain(
    `verification.done of list list) was given up: ${gone.host} did not take it`,
  );
  const { deliveries } = await next(7 * DAY);
  expect(deliveries.dead).toBe(1);
  expect(await queue.countEnds()).toEqual({ waiting: 0, oldestAt: null, dead: 1 });
});

test("the event of a removed receiver waits an hour for a process that knows it", async () => {
  const removed = await startReceiver((response) => response.writeHead(500).end());
  const { queue, next } = await processesWith(webhooksTo(removed));
  await next(0);
  await next(60_000, webhooksTo());
  expect(await queue.countEnds()).toMatchObject({ waiting: 1, dead: 0 });
  await next(3_600_000, webhooksTo());
  expect(await queue.countEnds()).toMatchObject({ waiting: 0, dead: 1 });
});
