import { readdirSync } from "node:fs";
import { afterEachTest } from "../../support/hooks.ts";
import { type StartedProcess, startProcess } from "../../support/start-process.ts";

const HOST = new URL("host.mjs", import.meta.url);

const running = new Set<HostProcess>();

// Also after a failed test no process remains.
afterEachTest(async () => {
  await Promise.all([...running].map((host) => host.kill()));
});

/** A process of host.mjs. */
export interface HostProcess extends StartedProcess {
  /** Mount point of the image service. */
  base: string;
}

/**
 * Starts a host on a data directory. The process has one thread for file work besides the main thread, so the order of its
 * system calls hardly varies.
 * @param mutant a fault of mutants.mjs. @default none
 */
export async function startHost(directory: string, mutant = ""): Promise<HostProcess> {
  const started = await startProcess([HOST, directory, mutant], { env: { UV_THREADPOOL_SIZE: "1" } });
  const host: HostProcess = {
    ...started,
    base: started.announced,
    async kill() {
      await started.kill();
      running.delete(host);
    },
  };
  running.add(host);
  return host;
}

/** The threads of a process by role. The main thread does short file operations, the others do the rest. */
export const ROLES = ["main", "others"] as const;

export type Role = (typeof ROLES)[number];

/** The thread IDs of a process. */
export function threadsOf({ child }: HostProcess, role: Role): number[] {
  const threads = readdirSync(`/proc/${child.pid}/task`).map(Number);
  return threads.filter((thread) => (thread === child.pid) === (role === "main"));
}
