import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in `/proc/<pid>/stat`: USER_HZ, 100 on every Linux that Node runs on. */
const MICROS_PER_TICK = 10_000;

/**
 * Fields of a process from field 3 of `stat` on (proc_pid_stat(5)); of one that ended between listing and reading, none.
 * @param {number | string} pid
 */
function statOf(pid) {
  const text = readProc(pid, "stat");
  // The name, in brackets, may contain any character; numbers follow it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = (/** @type {number} */ field) => Number(fields[field - 3] ?? 0) * MICROS_PER_TICK;
  return { parent: Number(fields[1]), ownMicros: ticks(14) + ticks(15), reapedMicros: ticks(16) + ticks(17) };
}

/** @param {number | string} pid @param {"stat" | "status"} file */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // ENOENT or ESRCH: the process ended.
    return "";
  }
}

/** All processes below `root`, without `root` itself. @param {number} root @returns {number[]} */
function descendantsOf(root) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = pids.map((pid) => ({ pid: Number(pid), parent: statOf(pid).parent }));
  const below = new Set([root]);
  for (const ancestor of below) {
    for (const { pid, parent } of parents) if (parent === ancestor) below.add(pid);
  }
  below.delete(root);
  return [...below];
}

/**
 * CPU of all children of `root`, ended ones included, in microseconds. Good to 10 ms a process.
 * @param {number} root
 */
export function childrenCpuMicros(root) {
  return descendantsOf(root)
    .map(statOf)
    .reduce(
      (micros, { ownMicros, reapedMicros }) => micros + ownMicros + reapedMicros,
      statOf(root).reapedMicros,
    );
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

/** @param {number} pid @param {RegExp} field */
function memoryBytes(pid, field) {
  return Number(field.exec(readProc(pid, "status"))?.[1] ?? 0) * 1024;
}
