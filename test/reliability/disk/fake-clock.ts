import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { programs, run } from "../../support/programs.ts";

/** The wall clock of processes started with its environment. */
export interface FakeClock {
  env: Record<string, string>;
  /** Its current time, in Unix milliseconds. */
  now(): number;
  /** Sets how far it is ahead of the real clock, in milliseconds; resolves once the service at `base` uses it. */
  set(aheadMs: number, base?: string): Promise<void>;
}

const SEEN_MS = 60_000;
const TOLERANCE_MS = 5_000;

/** Variables of a process with a wall clock of its own. Elapsed time and file dates stay real. */
export async function fakeClockVariables(): Promise<Record<string, string>> {
  const asked = await run(programs.faketime, ["2020-01-01", "printenv", "LD_PRELOAD"]);
  return {
    LD_PRELOAD: asked.stdout.toString().trim(),
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    NO_FAKE_STAT: "1",
  };
}

/** @param directory for the file that holds the offset. */
export async function createFakeClock(directory: string): Promise<FakeClock> {
  const file = join(directory, "clock");
  let ahead = 0;
  const clock: FakeClock = {
    env: { ...(await fakeClockVariables()), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: "1" },
    now: () => Date.now() + ahead,
    async set(aheadMs, base) {
      ahead = aheadMs;
      // Replaced atomically: a concurrent reader must not find an empty file.
      await writeFile(`${file}.new`, `${aheadMs < 0 ? "-" : "+"}${Math.abs(aheadMs) / 1000}\n`);
      await rename(`${file}.new`, file);
      if (base !== undefined) await untilSeen(base, clock);
    },
  };
  await clock.set(0);
  return clock;
}

async function untilSeen(base: string, clock: FakeClock): Promise<void> {
  const deadline = performance.now() + SEEN_MS;
  for (;;) {
    const { headers } = await fetch(`${base}/api/images/none.json`, {
      headers: { "User-Agent": "Clock/1.0" },
    });
    const said = Date.parse(headers.get("date") ?? "");
    if (Math.abs(said - clock.now()) < TOLERANCE_MS) return;
    if (performance.now() > deadline)
      throw new Error(`The service's clock still shows ${headers.get("date")}`);
    // Node updates its Date header once a second.
    await delay(50);
  }
}
