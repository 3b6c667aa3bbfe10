import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

const HOST = fileURLToPath(new URL("host.mjs", import.meta.url));

const running = new Set<HostProcess>();

// The processes of a test end with it, however it ended.
afterEach(async () => {
  await Promise.all([...running].map((host) => host.kill()));
});

/** A process of host.mjs. */
export interface HostProcess {
  /** Mount point of the image service. */
  base: string;
  child: ChildProcess;
  /** Whether it still runs, as far as is known here. */
  isAlive(): boolean;
  /** Resolves when it has ended. */
  exit: Promise<unknown>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
}

/**
 * Starts a host on a data directory. It has one thread for its file work beside the main one, so that the order of its
 * system calls is as good as fixed.
 * @param mutant one of mutants.mjs. @default the store as it is
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

/** Which threads of a process. File work is done by both: short looks and steps by the main one, the rest by others. */
export const ROLES = ["main", "others"] as const;

export type Role = (typeof ROLES)[number];

/** The numbers of a process' threads. */
export function threadsOf({ child }: HostProcess, role: Role): number[] {
  const threads = readdirSync(`/proc/${child.pid}/task`).map(Number);
  return threads.filter((thread) => (thread === child.pid) === (role === "main"));
}
