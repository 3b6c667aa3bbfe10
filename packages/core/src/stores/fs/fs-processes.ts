import { createHash } from "node:crypto";
import {
  existsSync,
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
import { makeDirectories, makeDirectory } from "./fs-durable-directories.ts";
import { systemCode } from "./fs-errors.ts";

/** A process that this one cannot see is presumed dead if its files have not changed for this time. */
const FOREIGN_IDLE_MS = 3_600_000;
/** Interval at which a process updates the change time of its directory. */
export const HEARTBEAT_MS = FOREIGN_IDLE_MS / 10;

/** Computed once: these values do not change while a process runs. */
const here = createHash("sha256")
  .update(
    [hostname(), read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")), pidNamespace()].join(
      "\n",
    ),
  )
  .digest("hex")
  .slice(0, 12);

/** This process's directory for temporary files. */
export interface TemporaryDirectory {
  /**
   * Path of the directory. If it was deleted, e.g. by a cleaner, it is created again, unless its volume is
   * gone.
   */
  path(): string;
  /**
   * Deletes the directory if it is empty; otherwise its files are deleted once the process has ended. Called
   * once.
   */
  release(): void;
}

/**
 * Creates the directory for this process's temporary files, after deleting those of dead processes. Several
 * processes, also in separate containers, may do so at once. Synchronous, so that the directory exists from
 * the start.
 * @param sibling exists as long as the volume is mounted.
 */
export function claimTemporaryDirectory(parent: string, sibling: string): TemporaryDirectory {
  makeDirectories(parent);
  removeAbandoned(parent);
  const own = join(parent, processName());
  makeDirectory(own);
  claims.set(own, (claims.get(own) ?? 0) + 1);

  function makeAgain(): void {
    if (existsSync(own) || !existsSync(sibling)) return;
    try {
      makeDirectory(parent);
      makeDirectory(own);
    } catch (error) {
      // The disk is full or missing: the next write reports it, and this is tried again.
      if (systemCode(error) === undefined) throw error;
    }
  }

  const timer = setInterval(() => {
    // It may also have been deleted because this process was suspended and presumed dead.
    makeAgain();
    beat(own);
    try {
      removeAbandoned(parent);
    } catch (error) {
      // The disk is missing.
      if (systemCode(error) === undefined) throw error;
    }
  }, HEARTBEAT_MS).unref();
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

/**
 * Deletes the directories of dead processes. A second name of a file there would keep its blob from being trimmed.
 */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (isAbandoned(name, path)) rmSync(path, { recursive: true, force: true });
  }
}

/** Number of stores of this process per directory. */
const claims = new Map<string, number>();

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    // Its files are deleted with the directory at the next start.
    if (systemCode(error) === undefined) throw error;
  }
}

/** A name unique to this process: its machine or container, its number and its start time. */
export function processName(): string {
  return `${here}.${process.pid}.${startTime(process.pid) ?? 0}`;
}

function beat(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch (error) {
    // The disk is missing.
    if (systemCode(error) === undefined) throw error;
  }
}

/**
 * Whether the process that a directory belongs to has ended.
 * @param name begins as {@link processName} does.
 */
export function isAbandoned(name: string, path: string): boolean {
  const [machine, pid, started] = name.split(".");
  if (machine === here) return hasEnded(Number(pid), started);
  return Date.now() - lastChange(path) > FOREIGN_IDLE_MS;
}

/** When any file in a directory last changed, in Unix milliseconds; the current time if that is unknown. */
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

/**
 * A process's start time, in the kernel's ticks: with its number it identifies a process. `undefined`: no
 * such process.
 */
function startTime(pid: number): string | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in parentheses may contain any character; the 22nd field is the 20th after it (proc(5)).
  return stat === "" ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function hasEnded(pid: number, started: string | undefined): boolean {
  const known = startTime(pid);
  // Without /proc only the number is checked. A number that was reused keeps the files of a dead process.
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

/** The result of `get`, or an empty string if the system lacks it. */
function read(get: () => string): string {
  try {
    return get();
  } catch (error) {
    if (systemCode(error) !== undefined) return "";
    throw error;
  }
}
