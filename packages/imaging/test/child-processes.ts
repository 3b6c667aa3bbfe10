import { readdirSync, readFileSync } from "node:fs";

/** Process ids of the children of a process, of all its threads, on Linux. Empty after the process has exited. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").trim();
      return list === "" ? [] : list.split(" ").map(Number);
    });
  } catch {
    // The process has exited.
    return [];
  }
}

/** Process ids of the render processes of a process, each within its sandbox. */
export function workersOf(pid: number): number[] {
  return childrenOf(pid)
    .map(lastOf)
    .filter((each) => {
      const command = commandOf(each);
      // One that has exited has no command.
      return command !== "" && !command.includes("write-font-cache");
    });
}

/** All processes below a process. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** The command line of a process; empty after it has exited. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    // The process has exited.
    return "";
  }
}

/** The process at the end of a chain of processes with one child each. */
function lastOf(pid: number): number {
  const [next] = childrenOf(pid);
  return next === undefined ? pid : lastOf(next);
}

/** Whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

/** The most memory that a process has held so far, in bytes. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
