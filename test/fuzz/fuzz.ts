import { readdirSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect } from "vitest";
import { mutate, type Syntax } from "../hostile/mutations.ts";
import { createRandom, type Random } from "../hostile/random.ts";
import { amount } from "../support/soak.ts";

/** What a text of each corpus contains, wherever it tells of a person. */
export const CANARY = "Canary-7F-Fuzz";

const SEED = 20_261_127;
/** CPU time of one input. Any input of these lengths takes milliseconds. */
const MAX_CPU_MS = 20_000;

export interface FuzzTarget {
  /** Folder of test/fixtures/fuzz. */
  corpus: string;
  syntax: Syntax;
  /** Inputs in a run of all tests; a soak has 50 times as many. */
  runs: number;
  /** Fails for an input that the parser treats wrongly. @returns what became of the input, such as `refused`. */
  check(bytes: Buffer, random: Random): string | Promise<string>;
  /** What must become of some inputs: else they do not reach the code behind. */
  outcomes: readonly string[];
}

const progress = new Int32Array(new SharedArrayBuffer(4));

/**
 * Ends the process if one input takes longer than {@link MAX_CPU_MS}: a test cannot interrupt a parser that hangs. Call it once
 * in each file.
 */
export function endIfHanging(): void {
  let watch: Worker;
  beforeAll(() => {
    const code = `
      const { workerData: { progress, maxMs } } = require("node:worker_threads");
      let [seen, sinceMs] = [0, 0];
      setInterval(() => {
        const seed = Atomics.load(progress, 0);
        const { user, system } = process.cpuUsage();
        const nowMs = (user + system) / 1000;
        if (seed !== seen || seed === 0) [seen, sinceMs] = [seed, nowMs];
        if (nowMs - sinceMs < maxMs) return;
        require("node:fs").writeSync(2, "The input of seed " + seed + " took more than " + maxMs + " ms of CPU time\\n");
        process.kill(process.pid, "SIGKILL");
      }, 500);`;
    watch = new Worker(code, { eval: true, workerData: { progress, maxMs: MAX_CPU_MS } });
    watch.unref();
  });
  afterAll(() => watch.terminate());
}

/** The files of a corpus by name. */
export function corpusOf(folder: string): [string, Buffer][] {
  const url = new URL(`../fixtures/fuzz/${folder}/`, import.meta.url);
  return readdirSync(url)
    .sort()
    .map((name) => [name, readFileSync(new URL(name, url))]);
}

/** Feeds a parser with files of a corpus, as they are and changed at random. A failure names the seed and has the input. */
export async function fuzz({ corpus, syntax, runs, check, outcomes }: FuzzTarget): Promise<void> {
  const files = corpusOf(corpus);
  const seen = new Map<string, number>();
  const total = files.length + amount(runs, runs * 50);
  for (let run = 0; run < total; run++) {
    const random = createRandom(SEED + run);
    const [name, sound] = files[run < files.length ? run : random.below(files.length)] ?? [
      "",
      Buffer.alloc(0),
    ];
    const input = run < files.length ? sound : mutate(sound, random, syntax);
    const before = Buffer.from(input);
    Atomics.store(progress, 0, SEED + run);
    try {
      const outcome = await check(input, random);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      expect(input.equals(before), "the parser changed its input").toBe(true);
    } catch (error) {
      const said = `seed ${SEED + run}, from ${corpus}/${name}: ${before.toString("base64").slice(0, 20_000)}`;
      throw new Error(`${said}\n${error instanceof Error ? error.stack : error}`, { cause: error });
    }
  }
  Atomics.store(progress, 0, 0);
  for (const outcome of outcomes)
    expect(seen.get(outcome) ?? 0, `${outcome} of ${total}`).toBeGreaterThan(total / 50);
}
