import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const HOST = fileURLToPath(new URL("host.mjs", import.meta.url));

/** A call on which durability depends. */
export type StoreCall = "sync" | "syncDirectory";

/** The image service in a process of its own. */
export interface HostProcess {
  base: string;
  /** The lines printed since it began to listen: its log, and `admit <path>`. */
  printed(): string[];
  /** Resolves once the process has exited. May be called twice. */
  kill(): Promise<void>;
}

export interface HostOptions {
  /**
   * Calls that its store skips but reports as done; `refusals`: errors for lack of room, likewise hidden. @default none
   */
  leftOut?: StoreCall | "changes of records" | "refusals";
  /** How far its clock is ahead, in milliseconds. @default 0 */
  aheadMs?: number;
  /** Longest time to check that a file is a picture, in milliseconds. @default 20 */
  admitMs?: number;
  /** Uploads per client in a window. @default no limit */
  creates?: number;
  /** Length of a window, in milliseconds. @default one minute */
  windowMs?: number;
  /** @default the service's own default */
  sweepEveryMs?: number;
  /** Whether it sweeps whatever the clock shows. @default false */
  sweepsBlindly?: boolean;
}

/** @param env added to this process' environment. */
export async function startHostProcess(
  directory: string,
  options: HostOptions = {},
  env: Record<string, string> = {},
): Promise<HostProcess> {
  const complete = { aheadMs: 0, admitMs: 20, ...options };
  const child = spawn(process.execPath, [HOST, directory, JSON.stringify(complete)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const ended = once(child, "close");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const isListening = () => /^http:\S+$/m.test(output);
  while (!isListening()) {
    const hasEnded = await Promise.race([
      once(child.stdout, "data").then(() => false),
      ended.then(() => true),
    ]);
    if (hasEnded && !isListening()) throw new Error(`The host ended before it listened: ${output}`);
  }
  const base = /^http:\S+$/m.exec(output)?.[0] ?? "";
  return {
    base,
    printed: () => output.split("\n").filter((line) => line !== "" && line !== base),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
