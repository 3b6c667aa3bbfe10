import { readFileSync } from "node:fs";

/**
 * Bytes of memory that a process holds resident, or null where the system does not say (no `/proc`, or the process is
 * gone).
 */
export function residentBytes(pid: number): number | null {
  let status: string;
  try {
    // Synchronous on purpose: no disk is behind /proc, and a busy thread pool must not delay the look.
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    // Whatever the reason, there is nothing to measure; the deadline still bounds the process.
    return null;
  }
  // Not statm, which counts pages of a size that Node cannot ask for.
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
