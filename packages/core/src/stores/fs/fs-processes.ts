import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "./fs-durable-directories.ts";
import { systemCode } from "./fs-errors.ts";

/** A process that this one cannot see is presumed dead when its files have not changed for this time. */
const FOREIGN_IDLE_MS = 3_600_000;
/** How often a process shows that it is alive. */
export const SIGN_OF_LIFE_MS = FOREIGN_IDLE_MS / 10;

/** Read once: none of it changes while a process lives. */
const here = createHash("sha256")
  .update(
    [hostname(), read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")), pidNamespace()].join(
      "\n",
    ),
  )
  .digest("hex")
  .slice(0, 12);

/** This process' directory for temporary files. */
export interface TemporaryDirectory {
  /**
   * Path of the directory. It is made again where it was removed, by a cleaner for example; but not on a volume that is gone.
   */
  path(): string;
  /** Removes the directory if it is empty; what is in it is removed when the process is no more. Called once. */
  release(): void;
}

/**
 * Makes the directory for this process' temporary files, after removing those of dead processes. Many processes, also in
 * containers of their own, may do so at once. Synchronous, so that the directory exists from the start.
 * @param sibling is there as long as the volume is.
 */
export function claimTemporaryDirectory(parent: string, sibling: string): TemporaryDirectory {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (isAbandoned(name, path)) rmSync(path, { recursive: true, force: true });
  }
  const own = join(parent, processName());
  mkdirSync(own, { recursive: true, mode: 0o700 });
  claims.set(own, (claims.get(own) ?? 0) + 1);

  function makeAgain(): void {
    if (existsSync(own) || !existsSync(sibling)) return;
    try {
      makeDirectory(parent);
      makeDirectory(own);
    } catch (error) {
      // The disk is full or not there: the next writer fails by it, and this is tried again.
      if (systemCode(error) === undefined) throw error;
    }
  }

  const timer = setInterval(() => {
    // Also one that was taken for a dead process' while this process was asleep.
    makeAgain();
    showLife(own);
  }, SIGN_OF_LIFE_MS).unref();
  return {
    path() {
      makeAgain();
      return own;
    },
    release() {
      clearInterval(timer);
      const left = (claims.get(own) ?? 1) - 1;
      if (left > 0) claims.set(own, left);
      else if (claims.delete(own)) removeEmpty(own);
    },
  };
}

/** How many stores of this process use a directory. */
const claims = new Map<string, number>();

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    // What is in it goes with the directory at the next start.
    if (systemCode(error) === undefined) throw error;
  }
}

/** A name that only this process has: its machine or container, its number and when it began. */
export function processName(): string {
  return `${here}.${process.pid}.${startTime(process.pid) ?? 0}`;
}

function showLife(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch (error) {
    // The disk is not there.
    if (systemCode(error) === undefined) throw error;
  }
}

/**
 * Whether the process that a directory belongs to is no more.
 * @param name begins as {@link processName} does.
 */
export function isAbandoned(name: string, path: string): boolean {
  const [machine, pid, started] = name.split(".");
  if (machine === here) return hasEnded(Number(pid), started);
  return Date.now() - lastChange(path) > FOREIGN_IDLE_MS;
}

/** When anything in a directory last changed, in Unix milliseconds; now, where that cannot be told. */
function lastChange(directory: string): number {
  try {
    const inside = readdirSync(directory).map((name) => statSync(join(directory, name)).ctimeMs);
    return Math.max(statSync(directory).ctimeMs, ...inside);
  } catch (error) {
    // Its owner is writing to it, or another process is sweeping it.
    if (systemCode(error) !== undefined) return Date.now();
    throw error;
  }
}

/** When a process began, in the kernel's ticks: with its number it names one process. `undefined`: there is none. */
function startTime(pid: number): string | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in parentheses may hold anything; the 22nd field is the 20th after it (proc(5)).
  return stat === "" ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function hasEnded(pid: number, started: string | undefined): boolean {
  const known = startTime(pid);
  // Where the system has no /proc, the number alone has to do: one that was given again keeps the files of a dead process.
  if (known === undefined && startTime(process.pid) === undefined) return !isRunning(pid);
  return known !== started;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

function pidNamespace(): string {
  return read(() => readlinkSync("/proc/self/ns/pid"));
}

/** What `read` gives, or nothing where the system does not have it. */
function read(look: () => string): string {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) !== undefined) return "";
    throw error;
  }
}
