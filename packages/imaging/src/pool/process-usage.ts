import { readFileSync } from "node:fs";

/** Length of a tick of Linux's processor time. USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MS = 10;
/** Index of `utime` among the fields after the name in proc_pid_stat(5); `stime`, and both of ended children follow. */
const UTIME = 11;

/** CPU milliseconds that a process and its ended children have used; `null` without `/proc` or after the process has exited. */
export function cpuMsOf(pid: number): number | null {
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
export function residentBytesOf(pid: number): number | null {
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
