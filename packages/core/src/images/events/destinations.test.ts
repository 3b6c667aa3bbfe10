import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../test/life-site.ts";
import { createEvent } from "../record/outbox.ts";
import { codeDestination, webhookDestination } from "./destinations.ts";

const image = { id: "A".repeat(22), name: "a.png", description: null, type: "image/png", size: 1 } as const;
const summary = { ...image, owner: null, createdAt: 0, expiresAt: null };
const event = createEvent({ type: "image.stored", at: 0, image: summary, to: [] });
const { signal } = new AbortController();

/** A receiver whose attempts settle when the test says. */
function pausedReceiver() {
  const attempts: { succeed(): void; fail(): void }[] = [];
  const receive = () =>
    new Promise<void>((resolve, reject) => {
      attempts.push({ succeed: () => resolve(), fail: () => reject(new Error("No.")) });
    });
  return { attempts, receive };
}

/** Delays for 200 images. */
function delaysOf({ delayMs }: { delayMs(): number }) {
  return Array.from({ length: 200 }, delayMs).sort((a, b) => a - b);
}

test("events that wait for a webhook that fails are looked at less often, up to hourly, until it succeeds", async () => {
  let now = 0;
  const { attempts, receive } = pausedReceiver();
  const webhook = { name: "webhook-1", host: "hooks.example", takes: () => true, send: receive };
  const destination = webhookDestination(webhook, () => now);
  const start = () => destination.deliver(event, signal);
  for (let count = 0; count < 5; count++) {
    const attempt = start();
    attempts[count]?.fail();
    await expect(attempt).rejects.toThrow("No.");
  }
  expect(destination.delayMs()).toBe(0);
  const running = start();
  expect(delaysOf(destination)[0]).toBeGreaterThanOrEqual(30 * SECOND);
  expect(delaysOf(destination)[199]).toBeLessThanOrEqual(5 * MINUTE);
  now = 25 * MINUTE;
  expect(delaysOf(destination)[0]).toBeGreaterThanOrEqual(2.5 * MINUTE);
  now = 600 * MINUTE;
  expect(delaysOf(destination)[0]).toBeGreaterThanOrEqual(6 * MINUTE);
  expect(delaysOf(destination)[199]).toBeLessThanOrEqual(60 * MINUTE);
  attempts[5]?.succeed();
  await running;
  const next = start();
  expect(destination.delayMs()).toBe(0);
  attempts[6]?.succeed();
  await next;
});

test("code gets at most 16 events that waited at a time, also when it fails", async () => {
  const { attempts, receive } = pausedReceiver();
  const destination = codeDestination("onStored", () => true, receive);
  const running = Array.from({ length: 15 }, () => destination.deliver(event, signal));
  expect(destination.delayMs()).toBe(0);
  running.push(destination.deliver(event, signal));
  expect(destination.delayMs()).toBeGreaterThan(0);
  for (const { fail } of attempts) fail();
  for (const each of running) await expect(each).rejects.toThrow("No.");
  expect(destination.delayMs()).toBe(0);
});
