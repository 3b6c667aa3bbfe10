import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Length of a tick of Linux's processor time. USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MS = 10;
/** Index of `utime` among the fields after the name in proc_pid_stat(5); `stime`, and both of ended children follow. */
const UTIME = 11;

/** Interval between two checks of an idle process. */
const CHECK_MS = 1000;
/** CPU time that an idle process may take, for it collects garbage and compiles what a task has used. */
const IDLE_CPU_MS = 3000;
/** More of it, as a share of the time that the process has been idle. */
const IDLE_CPU_SHARE = 0.05;

/** A decoding process, and the process group that it shares with its sandbox. */
export class ProcessGroup {
  readonly #child: ChildProcess;
  /** The decoding process; `null` until it is known, where the system does not show it, and after the end. */
  decoder: number | null = null;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param child The leader of the group: it was started with `detached`. */
  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Finds the decoding process, which runs now. @param isDirect Whether it is the child itself. */
  findDecoder(isDirect: boolean): void {
    const { pid = null } = this.#child;
    const last = isDirect || pid === null ? pid : lastOf(pid);
    this.decoder = isDirect || last !== pid ? last : null;
  }

  ended(): void {
    this.#hasEnded = true;
    this.decoder = null;
    this.rouse();
  }

  /** Bytes of resident memory of the decoding process; `null` where the system does not report it. */
  residentBytes(): number | null {
    return this.decoder === null ? null : residentBytesOf(this.decoder);
  }

  /** CPU milliseconds of the decoding process since its start; `null` where the system does not report them. */
  cpuMs(): number | null {
    return this.decoder === null ? null : cpuMsOf(this.decoder);
  }

  /** Checks the idle process from now on. @param onExcess called when it computes, or holds too much: it has no task. */
  rest(maxMemoryBytes: number, onExcess: () => void): void {
    this.rouse();
    const [cpuMs, sinceMs] = [this.cpuMs(), performance.now()];
    const check = () => {
      const usedMs = cpuMs === null ? 0 : (this.cpuMs() ?? 0) - cpuMs;
      const isBusy = usedMs > IDLE_CPU_MS + IDLE_CPU_SHARE * (performance.now() - sinceMs);
      if (isBusy || (this.residentBytes() ?? 0) > maxMemoryBytes) onExcess();
    };
    this.#timer = setInterval(check, CHECK_MS).unref();
  }

  /** Ends {@link rest}. */
  rouse(): void {
    clearInterval(this.#timer);
  }

  /** Kills all processes of the group. After its end another group may have its number. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasEnded) return;
    try {
      if (process.platform === "win32") this.#child.kill("SIGKILL");
      else process.kill(-pid, "SIGKILL");
    } catch {
      // All have exited.
    }
  }
}

/** The process at the end of a chain of processes with one child each. */
function lastOf(pid: number): number {
  const [next] = childrenOf(pid);
  return next === undefined ? pid : lastOf(next);
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
