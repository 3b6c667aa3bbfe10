import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";

const SHELL = "/bin/sh";
/** What Linux tells of this process. */
const STATUS = "/proc/self/status";
/** How much nicer than the host: its own work goes first, and a picture is still done when it is merely busy. */
const NICER_BY = 10;
/** What counts as allocated but is hardly touched: stacks of threads, and what encoders reserve, that of AV1 200 MB. */
const UNUSED_BYTES = 256 * 1024 ** 2;

/**
 * Starts a process that runs `entry`, of lower priority, in the environment that it needs and no more.
 * @param maxMemoryBytes resident memory that it may come to. Somebody has to look at that; but on Linux the system refuses
 * allocations far beyond it there and then, so that nothing bad happens between two looks.
 */
export function forkWorker(entry: URL, maxMemoryBytes: number): ChildProcess {
  const child = fork(fileURLToPath(entry), [process.execPath], {
    cwd: fileURLToPath(new URL(".", entry)),
    // Handed on, not read: nothing here is configured by it.
    env: childEnvironment(process.env),
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // Small containers have no shell: there only the looks at its memory bound it.
    ...(existsSync(STATUS) && existsSync(SHELL) ? limitedBy(maxMemoryBytes) : {}),
  });
  try {
    // From here and at once: on Linux a priority is a thread's, and the threads to come inherit it.
    if (child.pid !== undefined) setPriority(child.pid, Math.min(19, getPriority() + NICER_BY));
  } catch {
    // Refused or too late: it works as well, only less politely.
  }
  return child;
}

/**
 * A shell that limits its data segment and becomes Node. RLIMIT_DATA counts private memory that is written to, but not
 * what V8 and WebAssembly only reserve (Linux 4.7 and later, setrlimit(2)). Where a lower limit is in force already, that
 * one stays.
 */
function limitedBy(maxMemoryBytes: number): Pick<ForkOptions, "execPath" | "execArgv"> {
  const kibibytes = Math.floor((maxMemoryBytes + UNUSED_BYTES) / 1024) + reservedKibibytes();
  // `fork` appends the entry and its argument, which is Node's own path.
  return {
    execPath: SHELL,
    execArgv: ["-c", `ulimit -d ${kibibytes} 2>/dev/null; exec "$1" "$0"`],
  };
}

/** What a Node process like this one has as its own without touching it: with V8 13 half a gigabyte, before nothing. */
function reservedKibibytes(): number {
  const status = readFileSync(STATUS, "latin1");
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return Math.max(0, kibibytes("VmData") - kibibytes("RssAnon"));
}

/** What fonts, temporary files, the dynamic loader and Windows need. The host's secrets are none of it. */
const kept = /^(?:HOME|PATH|LANG|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|(?:FONTCONFIG|XDG|LC)_.*)$/i;

/** The environment of a worker: the little of the host's that it needs, and nothing else. */
function childEnvironment(host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(host)) {
    if (kept.test(name)) environment[name] = value;
  }
  // glibc otherwise gives every thread an arena of its own, and what a picture took is hardly ever given back.
  environment.MALLOC_ARENA_MAX = "2";
  return environment;
}
