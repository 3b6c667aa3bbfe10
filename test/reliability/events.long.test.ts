import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SECRET, startReceiver } from "../../packages/core/test/event-site.ts";
import { temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { amount } from "../support/soak.ts";

const HOST = fileURLToPath(new URL("events/host.mjs", import.meta.url));
const EVENTS = amount(1000, 100_000);
const KILLS = amount(10, 50);
/** More than a lease of 30 s and the entries of a second process after it. */
const RECOVERY_MS = 110_000;

test("no event of an acknowledged change is lost when its processes are killed, and each image's events come in order", async () => {
  const directory = await temporaryDirectory();
  const receiver = await startReceiver();
  const acknowledged = new Set<string>();
  const errors: string[] = [];
  const start = (count: number): ChildProcess => {
    const child = spawn(process.execPath, [HOST, directory, receiver.url, SECRET, String(count)]);
    createInterface({ input: child.stdout }).on("line", (line) => acknowledged.add(line));
    createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
    return child;
  };
  const kill = async (child: ChildProcess) => {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  };

  let steady = start(Number.MAX_SAFE_INTEGER);
  for (let round = 1; round <= KILLS || acknowledged.size < EVENTS; round++) {
    const enough = (EVENTS / KILLS) * Math.min(round, KILLS);
    const next = start(Number.MAX_SAFE_INTEGER);
    while (acknowledged.size < enough) await delay(20);
    await delay(Math.random() * 200);
    await kill(steady);
    steady = next;
  }
  await kill(steady);
  acknowledged.delete("done");
  // Only the last one survives, which changes nothing more.
  const last = start(0);
  const expected = [...acknowledged].map((line) => `image.${line}`);
  const missing = () => {
    const told = new Set(receiver.told());
    return expected.filter((line) => !told.has(line)).length;
  };
  await expect.poll(missing, { timeout: RECOVERY_MS, interval: 500 }).toBe(0);
  await kill(last);

  const arrivals = receiver.told();
  const first = new Map<string, number>();
  for (const [at, line] of arrivals.entries()) if (!first.has(line)) first.set(line, at);
  const reversed = [...first].filter(([line, at]) => {
    const [type, id] = line.split(" ");
    return type === "image.removed" && (first.get(`image.stored ${id}`) ?? Number.POSITIVE_INFINITY) > at;
  });
  expect(reversed).toEqual([]);
  const ids = new Set(receiver.events.map(({ id }) => id));
  console.info(`${expected.length} events, ${KILLS} kills: ${arrivals.length - ids.size} arrived twice`);
  // Repeated are deliveries under way at a kill, at most 8 changes of two processes, and those whose removal waits.
  expect(arrivals.length - ids.size).toBeLessThan(KILLS * 64);
  expect(errors).toEqual([]);
});
