import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Length of a tick of Linux's processor time. USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MS = 10;
/** Index of `utime` among the fields after the name in proc_pid_stat(5); `stime`, and both of ended children follow. */
const UTIME = 11;

/** Maximum number of processes counted in a tree. A compromised process may start any number. */
const MAX_TREE = 1000;
/** Interval between two checks of an idle process. */
const CHECK_MS = 1000;
/** CPU time that an idle process may take, for it collects garbage and compiles what a task has used. */
const IDLE_CPU_MS = 3000;
/** More of it, as a share of the time that the process has been idle. */
const IDLE_CPU_SHARE = 0.05;

/** A decoding process, the processes of its sandbox, and those that a taken-over decoder has started. */
export class ProcessTree {
  readonly #child: ChildProcess;
  readonly #isAlone: boolean;
  /** The processes of the sandbox, the decoding one last. Empty until they are known, and after their exit. */
  #own: readonly number[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param isAlone Whether the kernel refuses that the decoding process starts others. */
  constructor(child: ChildProcess, isAlone: boolean) {
    this.#child = child;
    this.#isAlone = isAlone;
  }

  /** The decoding process; `null` if it is unknown or has exited. */
  get decoder(): number | null {
    return this.#own.at(-1) ?? null;
  }

  /** Notes the processes once all are running. @param isDirect Whether the child is the decoding process. */
  complete(isDirect: boolean): void {
    const { pid } = this.#child;
    const own = pid === undefined ? [] : isDirect ? [pid] : treeOf(pid);
    // A sandbox whose processes the system does not show has no known decoder.
    this.#own = isDirect || own.length > 1 ? own : [];
  }

  exited(): void {
    this.#own = [];
    this.rouse();
  }

  /** Bytes of resident memory; `null` where the system does not report it. */
  residentBytes(): number | null {
    return this.#sumOf(residentBytesOf);
  }

  /** CPU milliseconds since the start; `null` where the system does not report them. */
  cpuMs(): number | null {
    return this.#sumOf(cpuMsOf);
  }

  /** Checks the idle process from now on. @param onExcess called when it does anything: it has no task. */
  rest(maxMemoryBytes: number, onExcess: () => void): void {
    this.rouse();
    const [cpuMs, sinceMs] = [this.cpuMs(), performance.now()];
    const check = () => {
      const usedMs = cpuMs === null ? 0 : (this.cpuMs() ?? 0) - cpuMs;
      const isBusy = usedMs > IDLE_CPU_MS + IDLE_CPU_SHARE * (performance.now() - sinceMs);
      if (isBusy || (this.residentBytes() ?? 0) > maxMemoryBytes || this.#strays().length > 0) onExcess();
    };
    this.#timer = setInterval(check, CHECK_MS).unref();
    if (this.#strays().length > 0) onExcess();
  }

  /** Ends {@link rest}. */
  rouse(): void {
    clearInterval(this.#timer);
  }

  /**
   * Kills the decoding process and those that it has started. Those around it end after it, so the first one's exit tells that
   * it has exited, and its namespace ends with all that has lost its parent.
   */
  kill(): void {
    const { decoder } = this;
    if (decoder !== null) killEach(treeOf(decoder).slice(decoder === this.#child.pid ? 1 : 0));
    // Safe also after the process has exited, when another may have its number.
    if (decoder === null || decoder === this.#child.pid) this.#child.kill("SIGKILL");
  }

  /** Kills all processes, also of an incomplete sandbox. */
  killAll(): void {
    if (this.#child.pid !== undefined) killEach(treeOf(this.#child.pid));
  }

  /** The sum over the decoding process and those that it has started. */
  #sumOf(measure: (pid: number) => number | null): number | null {
    const { decoder } = this;
    const own = decoder === null ? null : measure(decoder);
    return own === null ? null : this.#strays().reduce((sum, pid) => sum + (measure(pid) ?? 0), own);
  }

  /** The processes that the decoding process has started. */
  #strays(): number[] {
    const { pid } = this.#child;
    return this.#isAlone || pid === undefined ? [] : treeOf(pid).filter((each) => !this.#own.includes(each));
  }
}

/** Kills processes, the last one first: one that has lost its parent could not be found again. */
function killEach(pids: readonly number[]): void {
  for (const pid of pids.toReversed()) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has exited, perhaps with one of the others.
    }
  }
}

/** A process and all below it, parents first. Only the process itself where the system does not show children. */
function treeOf(root: number): number[] {
  const found = [root];
  for (const pid of found) {
    if (found.length > MAX_TREE) break;
    found.push(...childrenOf(pid));
  }
  return found;
}

function childrenOf(pid: number): number[] {
  try {
    // Each thread has its own list.
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").trim();
      return list === "" ? [] : list.split(" ").map(Number);
    });
  } catch {
    // It has exited, or its memory could not be measured either.
    return [];
  }
}

/** CPU milliseconds that a process and its ended children have used; `null` without `/proc` or after the process has exited. */
function cpuMsOf(pid: number): number | null {
  let stat: string;
  try {
    // Synchronous: the value is read right before a kill, and reading /proc needs no disk.
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // The caller then assumes the whole deadline.
    return null;
  }
  // The name is in parentheses and may contain any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(UTIME, UTIME + 4).reduce((sum, field) => sum + Number(field), 0);
  return Number.isFinite(ticks) ? ticks * TICK_MS : null;
}

/** Bytes of resident memory of a process; `null` without `/proc` or after the process has exited. */
function residentBytesOf(pid: number): number | null {
  let status: string;
  try {
    // Synchronous: reading /proc needs no disk, and a busy thread pool must not delay the measurement.
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    // Memory cannot be measured here; the deadline still bounds the process.
    return null;
  }
  // Not statm, which counts pages: Node cannot query the page size.
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
