/**
 * A contestant that stores bytes, in a process of its own: `store-child.mjs <kind> <options as JSON>`, forked by the
 * benchmark.
 */
import { KEEPERS } from "../stores/kinds.mjs";
import { bodyOf, drain, isBody } from "./bodies.mjs";

/** @import { Task, TaskResult } from "./store-process.mjs" */

const kind = /** @type {import("../stores/kinds.mjs").KeeperKind} */ (process.argv[2]); // Given by startStore.
const keeper = await KEEPERS[kind](JSON.parse(process.argv[3] ?? "{}"));

process.on("message", async (/** @type {Task | "stop"} */ message) => {
  if (message === "stop") {
    await keeper.close();
    process.exit();
  }
  try {
    process.send?.(await run(message));
  } catch (error) {
    process.send?.({ error: String(error instanceof Error ? error.stack : error) });
  }
});
process.on("disconnect", () => process.exit());
process.send?.("ready");

/**
 * @param {Task} task
 * @returns {Promise<TaskResult>}
 */
async function run({ work, bytes, count, atOnce, name }) {
  const keyOf = (/** @type {number} */ index) => `${name}-${index}/original`;
  const once = {
    put: (/** @type {number} */ index) => keeper.put(keyOf(index), bodyOf(bytes)),
    async get() {
      const length = await drain(await keeper.get(keyOf(0)));
      if (length !== bytes) throw new Error(`${kind} returned ${length} bytes instead of ${bytes}`);
    },
    async check() {
      if (!(await isBody(await keeper.get(keyOf(0)), bytes)))
        throw new Error(`${kind} returned other bytes than were stored`);
    },
    remove: (/** @type {number} */ index) => keeper.remove(keyOf(index)),
  }[work];
  let next = 0;
  const began = performance.now();
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: Math.min(atOnce, count) }, async () => {
      while (next < count) await once(next++);
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { cpuMicros: user + system, ms: performance.now() - began };
}
