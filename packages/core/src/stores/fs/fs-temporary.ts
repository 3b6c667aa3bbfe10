import { createHash, randomBytes } from "node:crypto";
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
import { makeDirectories, makeDirectory, systemCode } from "./fs-files.ts";

/** A process that this one cannot see is presumed dead if its files have not changed for this time. */
const FOREIGN_IDLE_MS = 3_600_000;
/** Interval at which a process updates the change time of its directory. */
export const HEARTBEAT_MS = FOREIGN_IDLE_MS / 10;

/** Computed once: these values do not change while a process runs. */
const here = createHash("sha256")
  .update(
    [hostname(), orEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")), pidNamespace()].join(
      "\n",
    ),
  )
  .digest("hex")
  .slice(0, 12);

/** Number of stores of this process per directory. */
const claims = new Map<string, number>();

/**
 * The directory for this process's temporary files. Those of dead processes are deleted. Several processes, also in separate
 * containers, may do so at once. Synchronous, so that the directory exists from the start.
 */
export class TemporaryDirectory {
  readonly #parent: string;
  readonly #own: string;
  readonly #sibling: string;
  readonly #timer: NodeJS.Timeout;

  /** @param sibling exists as long as the volume is mounted. */
  constructor(parent: string, sibling: string) {
    this.#parent = parent;
    this.#sibling = sibling;
    this.#own = join(parent, processName());
    makeDirectories(parent);
    removeAbandoned(parent);
    makeDirectory(this.#own);
    claims.set(this.#own, (claims.get(this.#own) ?? 0) + 1);
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  /** Path of the directory. If a cleaner deleted it, it is created again, unless its volume is gone. */
  path(): string {
    if (!existsSync(this.#own) && existsSync(this.#sibling)) {
      // The disk is full or missing: the next write reports it, and this is tried again.
      ignoreFailure(() => {
        makeDirectory(this.#parent);
        makeDirectory(this.#own);
      });
    }
    return this.#own;
  }

  /** A new path in the directory. */
  newPath(): string {
    return join(this.path(), randomBytes(12).toString("hex"));
  }

  /** Deletes the directory if it is empty; otherwise its files are deleted once the process has ended. Called once. */
  release(): void {
    clearInterval(this.#timer);
    const left = (claims.get(this.#own) ?? 1) - 1;
    if (left > 0) claims.set(this.#own, left);
    else if (claims.delete(this.#own)) ignoreFailure(() => rmdirSync(this.#own));
  }

  /** Shows other processes that this one lives. */
  #beat(): void {
    // It may also have been deleted because this process was suspended and presumed dead.
    const own = this.path();
    const now = new Date();
    // If either fails, the disk is missing.
    ignoreFailure(() => utimesSync(own, now, now));
    ignoreFailure(() => removeAbandoned(this.#parent));
  }
}

/** Runs work on the file system whose failure does no harm. */
function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
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

/** A name unique to this process: its machine or container, its number and its start time. */
export function processName(): string {
  return `${here}.${process.pid}.${startTime(process.pid) ?? 0}`;
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
  const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
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
  return orEmpty(() => readlinkSync("/proc/self/ns/pid"));
}

/** The result of `get`, or an empty string if the system lacks it. */
function orEmpty(get: () => string): string {
  try {
    return get();
  } catch (error) {
    if (systemCode(error) !== undefined) return "";
    throw error;
  }
}
