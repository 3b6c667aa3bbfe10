import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { peakMemoryBytes } from "./process-tree.mjs";

/** @import { KeeperKind, StoreOptions } from "../stores/kinds.mjs" */

/**
 * @typedef {object} Task
 * @property {"put" | "get" | "check" | "remove"} work `get` and `check` (byte for byte) read the first key of that name.
 * @property {string} name Prefix of the keys.
 * @property {number} bytes
 * @property {number} count
 * @property {number} atOnce
 */

/** @typedef {{ cpuMicros: number, ms: number }} TaskResult User and system time of the process, and the clock's. */

/**
 * @typedef {object} StoreProcess
 * @property {KeeperKind} kind
 * @property {(task: Task) => Promise<TaskResult>} run Rejects with the error of that process.
 * @property {() => number} peakMemory The process' peak memory in bytes.
 * @property {() => Promise<void>} stop
 */

/**
 * @param {KeeperKind} kind
 * @param {StoreOptions} options
 * @param {string | null} profileDirectory
 * @returns {Promise<StoreProcess>}
 */
export async function startStore(kind, options, profileDirectory) {
  const child = fork(
    fileURLToPath(new URL("store-child.mjs", import.meta.url)),
    [kind, JSON.stringify(options)],
    {
      execArgv:
        profileDirectory === null
          ? []
          : [
              "--cpu-prof",
              `--cpu-prof-dir=${profileDirectory}`,
              `--cpu-prof-name=${kind}-${Date.now()}.cpuprofile`,
            ],
      env: { ...process.env, NODE_ENV: "production" },
    },
  );
  /** @type {Promise<never>} */
  const ended = new Promise((_resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`${kind} ended: ${code ?? signal}`)));
  });
  ended.catch(() => {});
  const nextMessage = async () => {
    const [message] = await Promise.race([once(child, "message"), ended]);
    return message;
  };
  await nextMessage();
  return {
    kind,
    async run(task) {
      const answer = nextMessage();
      child.send(task);
      const result = await answer;
      if (result.error !== undefined) throw new Error(result.error);
      return result;
    },
    peakMemory: () => peakMemoryBytes(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.send("stop");
      await gone;
    },
  };
}
