import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

const HOST = fileURLToPath(new URL("host.mjs", import.meta.url));

const running = new Set<HostProcess>();

// These processes end with the test, however it ends.
afterEach(async () => {
  await Promise.all([...running].map((host) => host.kill()));
});

/** A process of host.mjs. */
export interface HostProcess {
  /** Mount point of the image service. */
  base: string;
  child: ChildProcess;
  /** Whether the process still runs, as far as this process knows. */
  isAlive(): boolean;
  /** Resolves once it has exited. */
  exit: Promise<unknown>;
  /** Kills it, as a crash does. */
  kill(): Promise<void>;
}

/**
 * Starts a host on a data directory. It has one thread for file work beside the main one, so the order of its system
 * calls is almost fixed.
 * @param mutant one of mutants.mjs. @default the unchanged store
 */
export async function startHost(directory: string, mutant = ""): Promise<HostProcess> {
  const child = spawn(process.execPath, [HOST, directory, mutant], {
    env: { PATH: process.env.PATH ?? "", UV_THREADPOOL_SIZE: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const exit = once(child, "close");
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const line = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), exit]);
  if (!isAlive()) throw new Error(`The host ended at once: ${log}`);
  const host: HostProcess = {
    base: String(line[0]).trim(),
    child,
    isAlive,
    exit,
    async kill() {
      child.kill("SIGKILL");
      await exit;
      running.delete(host);
    },
  };
  running.add(host);
  return host;
}

/** A group of threads of a process. Both do file work: the main thread does short calls, the others the rest. */
export const ROLES = ["main", "others"] as const;

export type Role = (typeof ROLES)[number];

/** Thread IDs of a process. */
export function threadsOf({ child }: HostProcess, role: Role): number[] {
  const threads = readdirSync(`/proc/${child.pid}/task`).map(Number);
  return threads.filter((thread) => (thread === child.pid) === (role === "main"));
}
