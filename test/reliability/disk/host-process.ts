import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const HOST = fileURLToPath(new URL("host.mjs", import.meta.url));

/** A call on which durability rests. */
export type StoreCall = "sync" | "syncDirectory";

/** The image service in a process of its own. */
export interface HostProcess {
  base: string;
  /** The lines that it has printed since it listens: of its log, and `admit <path>`. */
  printed(): string[];
  /** Resolves when it is dead. Calling it twice is allowed. */
  kill(): Promise<void>;
}

export interface HostOptions {
  /** What its store leaves out and says it had done; `refusals`: what it has no room for. @default nothing */
  leftOut?: StoreCall | "changes of records" | "refusals";
  /** How far its clock is ahead, in milliseconds. @default 0 */
  aheadMs?: number;
  /** How long a file takes at most until it is found to be a picture, in milliseconds. @default 20 */
  admitMs?: number;
  /** Uploads per client in a window. @default no limit */
  creates?: number;
  /** Length of a window, in milliseconds. @default a minute */
  windowMs?: number;
  /** @default as the service has it */
  sweepEveryMs?: number;
  /** Sweeps whatever the clock says. @default false */
  sweepsBlindly?: boolean;
}

/** @param env beside our own environment. */
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
