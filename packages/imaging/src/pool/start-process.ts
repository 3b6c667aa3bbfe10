import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { getPriority, homedir, setPriority } from "node:os";
import { dirname } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { SandboxLevel } from "@outrigger/core/images";
import type { NodeProgram } from "./node-program.ts";
import { processFilter } from "./sandbox/process-filter.ts";
import type { VisibleFiles } from "./sandbox/visible-files.ts";
import { visibleFiles } from "./sandbox/visible-files.ts";

const SHELL = "/bin/sh";
/** Nice value above the host's: the host's own work goes first, and renders still progress while it is busy. */
const NICER_BY = 10;
/** Nice value of a worker's scheduling group above that of the host's. Measured: see "Small reads beside renders" in bench/README.md. */
const GROUP_NICER_BY = 5;
/**
 * Memory that counts as allocated but is hardly used: thread stacks, and buffers that encoders reserve (AV1: 200 MB).
 */
const UNUSED_BYTES = 256 * 1024 ** 2;

/** The module of a process and its limits. */
export interface ProcessOptions {
  entry: URL;
  node: NodeProgram;
  /**
   * Resident memory that the process may reach. The caller measures and enforces it. On Linux the system also refuses
   * allocations far beyond it, which bounds the process between two measurements.
   */
  maxMemoryBytes: number;
}

/**
 * Starts a process at a level of the sandbox, with a lower priority and an allow-listed environment, in a process group of its own. Its error output
 * and the pipe to it are in `stdio`. Throws when the files of the sandbox cannot be found.
 */
export function startProcess(
  { entry, node, maxMemoryBytes }: ProcessOptions,
  level: SandboxLevel,
): ChildProcess {
  const path = realpathSync(fileURLToPath(entry));
  const environment = childEnvironment();
  // Small containers have no shell. There, only the memory watch bounds the process.
  const limits = node.status !== "" && existsSync(SHELL) ? limitedTo(maxMemoryBytes, node) : [];
  const filter = level === "bubblewrap" ? processFilter() : null;
  const [command = "", ...args] = [...limits, ...confined(path, level, environment, node)];
  const child = spawn(command, args, {
    cwd: dirname(path),
    env: environment,
    stdio: ["ignore", "ignore", "pipe", "pipe", ...(filter === null ? [] : (["pipe"] as const))],
    windowsHide: true,
    // The leader of a process group, by which all are killed.
    detached: process.platform !== "win32",
  });
  const input = child.stdio[FILTER_DESCRIPTOR];
  if (filter !== null && input instanceof Writable) {
    // A process that ends before it has read the filter says so by its exit.
    input.on("error", () => undefined).end(filter);
  }
  // Immediately: later threads and processes inherit it.
  if (child.pid !== undefined) lowerPriority(child.pid);
  return child;
}

function confined(entry: string, level: SandboxLevel, environment: NodeJS.ProcessEnv, node: NodeProgram) {
  const files = visibleFiles(environment, node);
  const program = [node.path, ...permissionOptions(files, node), entry];
  if (level === "none") return program;
  if (process.platform !== "linux") throw new Error("It needs Linux.");
  if (processFilter() === null) throw new Error(`It has no filter of system calls for ${process.arch}.`);
  return inBubblewrap(program, files);
}

/** Lowers the priority of a process. On Linux each thread has its own; threads inherit that of their creator. */
export function lowerPriority(pid: number): void {
  const priority = Math.min(19, getPriority() + NICER_BY);
  try {
    setPriority(pid, priority);
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), priority);
    lowerGroupPriority(pid);
  } catch {
    // Refused, no such files, or a thread that has just ended. A process with a higher priority still works.
  }
}

/**
 * Lowers the priority of a process's scheduling group. Where Linux shares the CPU between sessions (sched(7), "autogroup"),
 * nice values count only within a session, and a sandbox begins one. The group that the host is in stays as it is.
 */
function lowerGroupPriority(pid: number): void {
  const [own, nice] = groupOf("self");
  const [group] = groupOf(pid);
  if (group !== own) writeFileSync(`/proc/${pid}/autogroup`, String(Math.min(19, nice + GROUP_NICER_BY)));
}

/** The name of a process's group and its nice value, as in `/autogroup-25 nice 0`. The file is empty in the root group. */
function groupOf(process: number | "self"): [string, number] {
  const [name = "", , nice = 0] = readFileSync(`/proc/${process}/autogroup`, "latin1").split(" ");
  return [name, Number(nice)];
}

/**
 * Runs a command with limits. RLIMIT_DATA counts private writable memory, but not memory that V8 and WebAssembly only
 * reserve (Linux 4.7 and later, setrlimit(2)). The process writes no file. A lower limit
 * already in force stays. A limit of processes would also count those of the host.
 */
function limitedTo(maxMemoryBytes: number, node: NodeProgram): string[] {
  const kibibytes = Math.floor((maxMemoryBytes + UNUSED_BYTES) / 1024) + reservedKibibytes(node);
  const limits = [`-d ${kibibytes}`, "-c 0", "-f 0", "-n 1024"];
  return [SHELL, "-c", `${limits.map((limit) => `ulimit ${limit} 2>/dev/null; `).join("")}exec "$@"`, SHELL];
}

/** Memory that a process of this Node reserves without using it: half a gigabyte since V8 13, nothing before. */
function reservedKibibytes({ status }: NodeProgram): number {
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return Math.max(0, kibibytes("VmData") - kibibytes("RssAnon"));
}

/** Variables that fonts, temporary files, the dynamic loader and Windows need; no secrets of the host. */
const KEPT = /^(?:HOME|PATH|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT|(?:FONTCONFIG|XDG)_.*)$/i;

/** The home of this user, which a service manager may not name; a sandbox shows no list of users. */
function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    // A user without an entry, as some containers have.
    return "/nonexistent";
  }
}

/** The environment of a worker: the allow-listed variables of the host, and its own. */
export function childEnvironment(): NodeJS.ProcessEnv {
  // Passed on, not read: environment variables do not configure this package.
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: process.env.HOME || homeOfUser(),
    // Decides which language of an SVG is drawn, whatever the locale of the machine.
    LANG: "en_US.UTF-8",
    // Otherwise glibc gives every thread its own arena, and rarely returns memory to the system.
    MALLOC_ARENA_MAX: "2",
    // Otherwise libvips writes large pictures to temporary files.
    VIPS_DISC_THRESHOLD: "1000g",
  };
}

/** The descriptor from which bubblewrap reads the filter of system calls. */
const FILTER_DESCRIPTOR = 4;

/**
 * The command that runs `program` in a sandbox of bubblewrap: its own namespaces, no capability, a filter of system calls, and a file
 * system that holds only `files` and cannot be written. It stays in the process group of this command. There is no `/proc`: it would show nothing that a decoder needs, and a
 * container may refuse to mount it.
 */
export function inBubblewrap(program: readonly string[], { paths, links }: VisibleFiles): string[] {
  return [
    "bwrap",
    ...["--seccomp", String(FILTER_DESCRIPTOR)],
    ...["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"],
    ...paths.flatMap(({ path, from }) => ["--ro-bind", from, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...program,
  ];
}

/**
 * Options of Node that let JavaScript read only `files`, write nothing, and start no process. Native code, such as
 * sharp's, is not bound by them.
 */
function permissionOptions({ paths }: VisibleFiles, { flags }: NodeProgram): string[] {
  const option = ["--permission", "--experimental-permission"].find((each) => flags.includes(each));
  if (option === undefined) return [];
  return [
    option,
    ...(flags.includes("--allow-addons") ? ["--allow-addons"] : []),
    ...paths.map(({ path, isDirectory }) => `--allow-fs-read=${isDirectory ? `${path}/*` : path}`),
  ];
}
