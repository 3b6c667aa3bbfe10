import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { programs } from "../../support/programs.ts";

/** The fault for the n-th call of this name, counted from 1 for each thread. */
export interface Injection {
  call: string;
  /** In strace's syntax: `signal=KILL` before the call completes, `error=EIO` instead of it. */
  effect: string;
  when: number;
}

/** A traced system call. */
export interface TracedCall {
  name: string;
  /** The line as strace wrote it, with the paths of descriptors. */
  line: string;
  isInjected: boolean;
}

export interface Tracing {
  /** Resolves once no traced call has occurred for a while, or the process has exited. */
  quiet(): Promise<void>;
  /** Detaches from the threads and returns their calls. */
  end(): Promise<TracedCall[]>;
}

/** Longer than any pause between two steps of one operation. */
const QUIET_MS = 120;

let tracings = 0;

/** Attaches strace to threads of a running process. Call names that this machine's architecture lacks are ignored. */
export async function traceThreads(
  threads: readonly number[],
  calls: readonly string[],
  injection: Injection | null = null,
): Promise<Tracing> {
  const output = join(tmpdir(), `outrigger-strace-${process.pid}-${tracings++}`);
  const args = [
    ...["-y", "-s", "1", "-o", output, "-e", "signal=none", "-e", `trace=${setOf(calls)}`],
    ...(injection === null
      ? []
      : ["-e", `inject=${setOf([injection.call])}:${injection.effect}:when=${injection.when}`]),
    ...threads.flatMap((thread) => ["-p", String(thread)]),
  ];
  const strace = spawn(programs.strace, args, { stdio: ["ignore", "ignore", "pipe"] });
  const exit = once(strace, "close");
  await attached(strace, exit, threads.length);
  return {
    async quiet() {
      const hasEnded = exit.then(() => true);
      for (let size = -1, before = -2; size !== before; ) {
        before = size;
        if (await Promise.race([hasEnded, delay(QUIET_MS, false)])) return;
        size = (await stat(output)).size;
      }
    },
    async end() {
      strace.kill("SIGINT");
      await exit;
      const text = await readFile(output, "utf8");
      await rm(output);
      return text.split("\n").flatMap(parseLine);
    },
  };
}

function setOf(calls: readonly string[]): string {
  return calls.map((call) => `?${call}`).join(",");
}

async function attached(strace: ChildProcess, exit: Promise<unknown>, count: number): Promise<void> {
  let said = "";
  while (said.split(" attached").length <= count) {
    const ended = await Promise.race([
      once(strace.stderr ?? strace, "data").then(([text]) => {
        said += text;
      }),
      exit.then(() => true),
    ]);
    if (ended) throw new Error(`strace ended: ${said}`);
  }
}

function parseLine(line: string): TracedCall[] {
  // The rest of a call that another thread's line interrupted; its beginning has been counted.
  const name = /^(?:\d+ +)?([a-z0-9_]+)\(/.exec(line)?.[1];
  return name === undefined ? [] : [{ name, line, isInjected: line.endsWith("(INJECTED)") }];
}
