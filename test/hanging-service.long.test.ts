import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createImages } from "@outrigger/core";
import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { PNG } from "../packages/core/test/calls.ts";
import { startReceiver, webhooksTo } from "../packages/core/test/event-site.ts";
import { temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { listKeys } from "./backends/place.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

test("another service delivers the events of one that hangs, in order, and nothing of them stays", async () => {
  const receiver = await startReceiver(() => {});
  const directory = await temporaryDirectory();
  const open = () => createFsBlobStore({ directory });
  const errors: unknown[] = [];
  let aheadMs = 0;
  const start = () =>
    createImages({
      storage: open(),
      renderer: createFakeRenderer(acceptAll),
      secret: SECRET,
      rateLimits: false,
      tombstoneDays: 0,
      now: () => Date.now() + aheadMs,
      onError: (error) => errors.push(error),
      webhooks: webhooksTo(receiver),
    });
  const hanging = start();
  const { id } = await hanging.add(PNG, { name: "a.png" });
  await expect.poll(() => receiver.told()).toEqual([`image.stored ${id}`]);
  const other = start();
  await other.withhold(id, { reason: "By order of the court." });
  receiver.answer = (response) => response.writeHead(204).end();
  // The lease of the first service is over.
  aheadMs = 62_000;
  await other.remove(id);
  const all = [`image.stored ${id}`, `image.withheld ${id}`, `image.removed ${id}`];
  const inOrder = () => all.map((line) => receiver.told().lastIndexOf(line));
  await expect.poll(inOrder).not.toContain(-1);
  const order = all.map((line) => receiver.told().indexOf(line));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  // The entry of the change that the first service should have delivered is known to be spare.
  const idle = { waiting: 0, oldestAt: null, dead: 0 };
  await expect.poll(() => other.undelivered()).toEqual(idle);
  // Then the first service has given up its attempt, and removes what it knows.
  await delay(11_000);
  aheadMs += 16 * 60_000;
  const entries = async () => (await listKeys(open(), "due-events/")).length;
  await expect.poll(entries).toBe(0);
  await Promise.all([hanging.close(), other.close()]);
  expect(errors).toEqual([]);
});
