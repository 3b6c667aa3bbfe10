import { setTimeout as delay } from "node:timers/promises";
import { createImages } from "@outrigger/core";
import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PNG } from "../packages/core/test/calls.ts";
import { startReceiver, webhooksTo } from "../packages/core/test/event-site.ts";
import { createPlace, listKeys, PLACE_NAMES } from "./backends/place.ts";
import { type Servers, startServers } from "./backends/servers.ts";
import { partOf } from "./support/soak.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

const PLACES = partOf(PLACE_NAMES, ["a directory", "S3 with records in PostgreSQL"]);

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(PLACES);
});
afterAll(() => servers.close());

test.each(PLACES)(
  "on %s, another service delivers the events of one that hangs, in order, and nothing of them stays",
  async (name) => {
    const receiver = await startReceiver(() => {});
    const place = createPlace(servers, name);
    const errors: unknown[] = [];
    let aheadMs = 0;
    const start = () =>
      createImages({
        storage: place.open(),
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
    const entries = async () => (await listKeys(place.open(), "due-events/")).length;
    await expect.poll(entries).toBe(0);
    await Promise.all([hanging.close(), other.close()]);
    expect(errors).toEqual([]);
  },
);
