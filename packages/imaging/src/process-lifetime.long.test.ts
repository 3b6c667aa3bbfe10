import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { createRenderer } from "@outrigger/imaging";
import { describe, expect, test } from "vitest";
import { admitInfo } from "../test/admit-bytes.ts";
import { descendantsOf, isRunning, workersOf } from "../test/child-processes.ts";
import { svg } from "../test/hostile-svgs.ts";

const source = { bytes: Buffer.from(svg(9, "")) };

function startHost(
  mode: "once" | "hang" | "thread" | "start",
  sandbox = "best",
  path = process.env.PATH,
): ChildProcess {
  const script = fileURLToPath(new URL("../test/host.mjs", import.meta.url));
  return spawn(process.execPath, [script, mode, sandbox], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: path },
  });
}

test("a host that never closes its renderer gets its result and exits by itself", async () => {
  const host = startHost("once");
  let output = "";
  host.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(host, "close");
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^\d+\n$/) });
});

test.each(["best", "off"])(
  "a host that only starts its renderer exits by itself, sandbox: %s",
  async (sandbox) => {
    const host = startHost("start", sandbox);
    expect(await once(host, "close")).toEqual([0, null]);
  },
);

describe.runIf(process.platform === "linux")("on Linux", () => {
  test.each([
    ["bubblewrap", "hang", "best", undefined],
    ["bubblewrap", "thread", "best", undefined],
    ["none", "hang", "best", "/there/are/no/programs"],
    ["none", "hang", "off", undefined],
  ] as const)(
    "busy workers at level %s (%s) exit when their host is killed",
    async (level, mode, sandbox, path) => {
      const host = startHost(mode, sandbox, path);
      const [output] = await once(host.stdout ?? host, "data");
      // A kernel that refuses namespaces is no failure.
      if (String(output).trim() !== level) console.log(`Level ${level} does not work here, but ${output}`);
      const workers = descendantsOf(host.pid ?? 0);
      expect(workers.length).toBeGreaterThanOrEqual(2);
      host.kill("SIGKILL");
      await once(host, "exit");
      await expect.poll(() => workers.filter(isRunning)).toEqual([]);
    },
  );

  test("creating a renderer starts no process, start() starts one, and the first picture gets it", async () => {
    const before = new Set(workersOf(process.pid));
    const added = () => workersOf(process.pid).filter((pid) => !before.has(pid));
    const renderer = createRenderer({ workers: 2, timeoutMs: 60_000 });
    expect(added()).toEqual([]);
    await renderer.start?.();
    const started = added();
    expect(started.length).toBe(1);
    await admitInfo(renderer, source, "image/svg+xml");
    await renderer.start?.();
    expect(added()).toEqual(started);
    await renderer.close();
    expect(added()).toEqual([]);
  });

  test("a picture that arrives while a worker starts waits for it and keeps the host alive", async () => {
    const before = new Set(workersOf(process.pid));
    const renderer = createRenderer({ workers: 2, timeoutMs: 60_000 });
    const started = renderer.start?.();
    await new Promise(setImmediate);
    await admitInfo(renderer, source, "image/svg+xml");
    await started;
    expect(workersOf(process.pid).filter((pid) => !before.has(pid)).length).toBe(1);
    await renderer.close();
    await expect(renderer.start?.()).resolves.toBeUndefined();
  });

  test("all threads of a worker have a low priority, and its environment has no secrets of the host", async () => {
    process.env.RENDER_TEST_SECRET = "do not hand on";
    process.env.FONTCONFIG_RENDER_TEST = "hand on";
    const before = new Set(workersOf(process.pid));
    const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
    try {
      await renderer.render(source, "image/svg+xml", { format: "webp" });
      const [worker = 0] = workersOf(process.pid).filter((pid) => !before.has(pid));
      const names = readFileSync(`/proc/${worker}/environ`, "utf8")
        .split("\0")
        .map((entry) => entry.split("=", 1)[0]);
      expect(names).toContain("FONTCONFIG_RENDER_TEST");
      expect(names).not.toContain("RENDER_TEST_SECRET");
      expect(names).not.toContain("NODE_OPTIONS");
      const priorities = readdirSync(`/proc/${worker}/task`).map((thread) => getPriority(Number(thread)));
      expect(new Set(priorities)).toEqual(new Set([Math.min(19, getPriority() + 10)]));
      const hasGroups = existsSync("/proc/self/autogroup");
      const [own, group] = [process.pid, worker].map((pid) => (hasGroups ? groupOf(pid) : null));
      if (own && group)
        expect(group.nice).toBe(group.name === own.name ? own.nice : Math.min(19, own.nice + 5));
    } finally {
      delete process.env.RENDER_TEST_SECRET;
      delete process.env.FONTCONFIG_RENDER_TEST;
      await renderer.close();
    }
  });
});

/** The scheduling group of a process: its file has the form `/autogroup-25 nice 0`, and is empty in the root group. */
function groupOf(pid: number) {
  const [name, , nice = 0] = readFileSync(`/proc/${pid}/autogroup`, "latin1").split(" ");
  return { name, nice: Number(nice) };
}
