import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxLevel } from "@outrigger/core/images";
import { afterEach, describe, expect, test } from "vitest";
import { commandOf, descendantsOf, isRunning, workersOf } from "../../test/child-processes.ts";
import { closePools, poolOf } from "../../test/task-pool.ts";
import { running } from "./node-program.ts";
import { ProcessGroup } from "./process-group.ts";
import type { LevelSearch } from "./sandbox/levels.ts";
import { processFilter } from "./sandbox/process-filter.ts";

const MiB = 1024 ** 2;
const BUSY = "for (;;);";
/** A Node without a permission model: native code can do what a script can do in it. */
const NATIVE = { ...running(), flags: [] };

afterEach(closePools);

/** One level, without a search. */
function only(level: SandboxLevel): LevelSearch {
  return { candidates: () => [level], found: () => undefined, result: () => null };
}

/** Processes below this one that run a script of a task. */
function strays(): number[] {
  return descendantsOf(process.pid).filter((pid) => isRunning(pid) && commandOf(pid).includes(BUSY));
}

describe.runIf(process.platform === "linux")("a worker that a picture has taken over", () => {
  test.runIf(processFilter() !== null)(
    "starts no process under bubblewrap, where the kernel refuses them",
    async () => {
      const pool = poolOf({ levels: only("bubblewrap"), node: NATIVE });
      const { value, worker } = await pool.run({ do: "spawn", count: 2, script: BUSY, ms: 0 });
      expect(value).toEqual(["EPERM", "EPERM"]);
      expect((await pool.run({ do: "answer" })).worker).toBe(worker);
    },
  );

  test("starts no process from a script, in any sandbox", async () => {
    const pool = poolOf({ levels: only("none") });
    const { value } = await pool.run({ do: "spawn", count: 1, script: BUSY, ms: 0 });
    expect(value).toEqual(["ERR_ACCESS_DENIED"]);
  });

  test("is killed with the processes that native code starts in its group", async () => {
    const pool = poolOf({ levels: only("none"), node: NATIVE, timeoutMs: 3000 });
    await pool.run({ do: "spawn", count: 3, script: BUSY, ms: 0, detached: false });
    await expect.poll(strays).toHaveLength(3);
    await pool.close();
    await expect.poll(strays).toEqual([]);
  });

  test("is killed when it takes memory after its answer, and not when it rests", async () => {
    const pool = poolOf({ maxMemoryBytes: 256 * MiB });
    const { worker } = await pool.run({ do: "answer" });
    expect((await pool.run({ do: "answer later", ms: 1500 })).worker).toBe(worker);
    await pool.run({ do: "answer", thenTake: 300 * MiB });
    const [decoder = 0] = workersOf(process.pid);
    await expect.poll(() => isRunning(decoder)).toBe(false);
    expect((await pool.run({ do: "answer" })).worker).not.toBe(worker);
  });

  test("is noticed when it computes while it rests", async () => {
    // At the priority of this process: a render process gets no CPU time while others want it.
    const child = spawn(process.execPath, ["-e", BUSY], { detached: true, stdio: "ignore" });
    const group = new ProcessGroup(child);
    group.findDecoder(true);
    await new Promise<void>((resolve) => group.rest(256 * MiB, resolve));
    group.rouse();
    group.kill();
    await once(child, "exit");
  });
});
