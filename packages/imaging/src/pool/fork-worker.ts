import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";

const SHELL = "/bin/sh";
const STATUS = "/proc/self/status";
/** Nice value above the host's: the host's own work goes first, and renders still progress while it is busy. */
const NICER_BY = 10;
/**
 * Memory that counts as allocated but is hardly used: thread stacks, and buffers that encoders reserve (AV1: 200 MB).
 */
const UNUSED_BYTES = 256 * 1024 ** 2;

/**
 * Starts a process that runs `entry`, with a lower priority and an allow-listed environment.
 * @param maxMemoryBytes resident memory that the process may reach. The caller measures and enforces it. On Linux the
 * system also refuses allocations far beyond it, which bounds the process between two measurements.
 */
export function forkWorker(entry: URL, maxMemoryBytes: number): ChildProcess {
  const child = fork(fileURLToPath(entry), [process.execPath], {
    cwd: fileURLToPath(new URL(".", entry)),
    // Passed on, not read: environment variables do not configure this package.
    env: childEnvironment(process.env),
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // Small containers have no shell. There, only the memory watch bounds the process.
    ...(existsSync(STATUS) && existsSync(SHELL) ? limitedBy(maxMemoryBytes) : {}),
  });
  try {
    // Immediately: on Linux each thread has its own priority, and later threads inherit it.
    if (child.pid !== undefined) setPriority(child.pid, Math.min(19, getPriority() + NICER_BY));
  } catch {
    // Refused or too late: the worker runs with the priority of the host.
  }
  return child;
}

/**
 * Runs Node through a shell that limits its own data segment first. RLIMIT_DATA counts private writable memory, but not
 * memory that V8 and WebAssembly only reserve (Linux 4.7 and later, setrlimit(2)). A lower limit already in force
 * stays.
 */
function limitedBy(maxMemoryBytes: number): Pick<ForkOptions, "execPath" | "execArgv"> {
  const kibibytes = Math.floor((maxMemoryBytes + UNUSED_BYTES) / 1024) + reservedKibibytes();
  // `fork` appends the entry and its argument, which is Node's own path.
  return {
    execPath: SHELL,
    execArgv: ["-c", `ulimit -d ${kibibytes} 2>/dev/null; exec "$1" "$0"`],
  };
}

/** Memory that a Node process like this one reserves without using it: half a gigabyte since V8 13, nothing before. */
function reservedKibibytes(): number {
  const status = readFileSync(STATUS, "latin1");
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return Math.max(0, kibibytes("VmData") - kibibytes("RssAnon"));
}

/** Variables that fonts, temporary files, the dynamic loader and Windows need; no secrets of the host. */
const KEPT = /^(?:HOME|PATH|LANG|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|(?:FONTCONFIG|XDG|LC)_.*)$/i;

/** The environment of a worker: the allow-listed variables of the host. */
function childEnvironment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(host)) {
    if (KEPT.test(name)) environment[name] = value;
  }
  // Otherwise glibc gives every thread its own arena, and rarely returns memory to the system.
  environment.MALLOC_ARENA_MAX = "2";
  return environment;
}
