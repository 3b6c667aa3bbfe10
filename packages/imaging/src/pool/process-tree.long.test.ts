import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxLevel } from "@outrigger/core/images";
import { afterEach, describe, expect, test } from "vitest";
import { commandOf, descendantsOf, isRunning, workersOf } from "../../test/child-processes.ts";
import { closePools, poolOf } from "../../test/task-pool.ts";
import { ProcessTree } from "./process-tree.ts";
import type { LevelSearch } from "./sandbox/levels.ts";
import { processFilter } from "./sandbox/process-filter.ts";

const MiB = 1024 ** 2;
const BUSY = "for (;;);";
const LARGE = "const held = Buffer.alloc(400 * 1024 ** 2, 1); setInterval(() => held.length, 1000)";

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
      const pool = poolOf({ levels: only("bubblewrap") });
      const { value, worker } = await pool.run({ do: "spawn", count: 2, script: BUSY, ms: 0 });
      expect(value).toEqual(["EPERM", "EPERM"]);
      expect((await pool.run({ do: "answer" })).worker).toBe(worker);
    },
  );

  test.each(["namespaces", "none"] as const)(
    "is killed at level %s with the processes that it leaves behind its answer",
    async (level) => {
      const pool = poolOf({ levels: only(level) });
      const { value, worker } = await pool.run({ do: "spawn", count: 3, script: BUSY, ms: 300 });
      expect(value).toEqual(["spawned", "spawned", "spawned"]);
      await expect.poll(strays).toEqual([]);
      expect((await pool.run({ do: "answer" })).worker).not.toBe(worker);
    },
  );

  test("is killed for the memory of the processes that it starts, and they with it", async () => {
    const pool = poolOf({ levels: only("namespaces"), maxMemoryBytes: 256 * MiB });
    const task = { do: "spawn", count: 1, script: LARGE, ms: 20_000 };
    await expect(pool.run(task)).rejects.toMatchObject({ code: "too_costly" });
    await expect.poll(() => descendantsOf(process.pid).map(commandOf).join()).not.toContain("held");
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
    const child = spawn(process.execPath, ["-e", BUSY], { stdio: "ignore" });
    const tree = new ProcessTree(child, false);
    tree.complete(true);
    await new Promise<void>((resolve) => tree.rest(256 * MiB, resolve));
    tree.rouse();
    tree.kill();
    await once(child, "exit");
  });
});
