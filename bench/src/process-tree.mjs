import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in `/proc/<pid>/stat`: USER_HZ, 100 on every Linux that Node runs on. */
const MICROS_PER_TICK = 10_000;

/**
 * @typedef {object} ProcessStat
 * @property {number} parent
 * @property {number} cpuMicros User and system time of the process, threads that ended included.
 * @property {number} reapedMicros The same of its children that have ended.
 */

/**
 * @param {number | string} pid
 * @returns {ProcessStat | null} `null`: no such process any more.
 */
function readStat(pid) {
  const text = readProc(pid, "stat");
  if (text === null) return null;
  // The name, in brackets, may contain any character; numbers follow it (proc_pid_stat(5), from field 3).
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = (/** @type {number} */ field) => Number(fields[field - 3]) * MICROS_PER_TICK;
  return { parent: Number(fields[1]), cpuMicros: ticks(14) + ticks(15), reapedMicros: ticks(16) + ticks(17) };
}

/**
 * @param {number | string} pid
 * @param {"stat" | "status"} file
 * @returns {string | null}
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // ENOENT or ESRCH: the process ended between listing and reading.
    return null;
  }
}

/**
 * All processes below `root`, without `root` itself.
 * @param {number} root
 * @returns {number[]}
 */
export function descendantsOf(root) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(name);
    if (stat === null) continue;
    const siblings = children.get(stat.parent);
    if (siblings === undefined) children.set(stat.parent, [Number(name)]);
    else siblings.push(Number(name));
  }
  const found = [...(children.get(root) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/**
 * CPU of all children of `root`, ended ones included, in microseconds. Good to 10 ms a process.
 * @param {number} root
 */
export function childrenCpuMicros(root) {
  let micros = readStat(root)?.reapedMicros ?? 0;
  for (const pid of descendantsOf(root)) {
    const stat = readStat(pid);
    if (stat !== null) micros += stat.cpuMicros + stat.reapedMicros;
  }
  return micros;
}

/**
 * CPU of a process alone, in microseconds; 0 when it is gone. Good to 10 ms.
 * @param {number} pid
 */
export function ownCpuMicros(pid) {
  return readStat(pid)?.cpuMicros ?? 0;
}

/**
 * The peak physical memory of a process so far, in bytes; 0 once it has exited.
 * @param {number} pid
 */
export function peakMemoryBytes(pid) {
  return memoryBytes(pid, /^VmHWM:\s+(\d+) kB$/m);
}

/**
 * The current physical memory of a process and all below it, in bytes. Shared memory counts once for each process.
 * @param {number} root
 */
export function treeMemoryBytes(root) {
  const resident = (/** @type {number} */ pid) => memoryBytes(pid, /^VmRSS:\s+(\d+) kB$/m);
  return descendantsOf(root).reduce((sum, pid) => sum + resident(pid), resident(root));
}

/**
 * @param {number} pid
 * @param {RegExp} field
 */
function memoryBytes(pid, field) {
  return Number(field.exec(readProc(pid, "status") ?? "")?.[1] ?? 0) * 1024;
}
