/**
 * A worker that a picture has taken over: each task tries to reach one thing of the host, and reports whether it did. For
 * sandbox.long.test.ts.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { receive, send } from "./worker-pipe.mjs";

const attempts = {
  /** An environment with the canary, or memory of the host. */
  host: ({ pid, canary }) =>
    [pid, process.ppid, ...processes()].some((each) =>
      anyOf(() => readFileSync(`/proc/${each}/environ`, "latin1").includes(canary)),
    ) || anyOf(() => readMemory(pid)),
  data: ({ file, canary }) => anyOf(() => readFileSync(file, "latin1").includes(canary)),
  files: ({ directory, app }) =>
    ["/etc/passwd", "/etc/hostname", app].some((path) => anyOf(() => readFileSync(path))) ||
    ["/home", "/root", "/var/lib", homedir(), directory].some((path) => anyOf(() => readdirSync(path))) ||
    ["/tmp", "/dev/shm", "/var/tmp", "/", directory, import.meta.dirname].some((path) =>
      anyOf(() => writeIn(path)),
    ),
  network: async ({ port, socket, abstract }) => {
    const targets = [
      { port, host: "127.0.0.1" },
      { port, host: "::1" },
      { path: socket },
      { path: abstract },
    ];
    return (await Promise.all(targets.map(connects))).includes(true);
  },
  programs: () =>
    ["/bin/sh", "/usr/bin/env", "/bin/ls", "/bin/busybox", "/usr/bin/python3", process.execPath].some(
      (path) => anyOf(() => spawnSync(path, ["--version"], { stdio: "inherit" }).error === undefined),
    ),
  signals: ({ pid }) => anyOf(() => process.kill(pid, 0)),
};

function anyOf(attempt) {
  try {
    return attempt() !== false;
  } catch {
    return false;
  }
}

function processes() {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readMemory(pid) {
  const [start] = /^[0-9a-f]+/.exec(readFileSync(`/proc/${pid}/maps`, "latin1")) ?? [];
  const memory = openSync(`/proc/${pid}/mem`, "r");
  try {
    return readSync(memory, Buffer.alloc(1), 0, 1, Number(`0x${start}`)) === 1;
  } finally {
    closeSync(memory);
  }
}

/** Creates an empty file: a limit of the process forbids bytes in it. */
function writeIn(directory) {
  const path = join(directory, `hostile-${Date.now()}`);
  writeFileSync(path, "");
  rmSync(path);
}

function connects(target) {
  return new Promise((resolve) => {
    try {
      const socket = connect(target, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    } catch {
      resolve(false);
    }
  });
}

receive(async ({ attempt, ...facts }) => {
  const result = await attempts[attempt](facts);
  send({ kind: "done", result, cpuMs: 0, residentBytes: null });
});
send({ kind: "ready" });
