import { readFileSync } from "node:fs";

/** Length of the ticks that Linux counts processor time in: USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MS = 10;
/** Place of `utime` behind the name in proc_pid_stat(5); `stime` follows. */
const UTIME = 11;

/** CPU milliseconds that a process has used, or `null` without `/proc` or after the process is gone. */
export function cpuMsOf(pid: number): number | null {
  let stat: string;
  try {
    // Synchronous: it is read right before a kill, and no disk is behind /proc.
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // The caller then assumes the whole deadline.
    return null;
  }
  // The name is in parentheses and may contain any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[UTIME]) + Number(fields[UTIME + 1]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : null;
}

/** Bytes of memory that a process holds resident, or `null` without `/proc` or after the process is gone. */
export function residentBytesOf(pid: number): number | null {
  let status: string;
  try {
    // Synchronous: no disk is behind /proc, and a busy thread pool must not delay the measurement.
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    // There is nothing to measure; the deadline still bounds the process.
    return null;
  }
  // Not statm, which counts pages of a size that Node cannot ask for.
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
