import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childrenCpuMicros, peakMemoryBytes, treeMemoryBytes } from "./process-tree.mjs";

/** @import { ServerOptions } from "../servers/required.mjs" */

/**
 * A server under test, in a process of its own.
 * @typedef {object} ServerProcess
 * @property {string} kind File in `servers/` and function in it: `outrigger inExpress`.
 * @property {number} port
 * @property {string} origin
 * @property {() => Promise<number>} cpuMicros User and system time so far, that of its children included.
 * @property {() => number} peakMemory Bytes: the most that the server's own process has held.
 * @property {() => number} residentMemory Bytes that the server's own process and all below it hold now.
 * @property {() => Promise<void>} stop
 */

/**
 * @param {string} kind
 * @param {ServerOptions} options
 * @returns {Promise<ServerProcess>}
 */
export async function startServer(kind, options) {
  const child = fork(
    fileURLToPath(new URL("../servers/serve.mjs", import.meta.url)),
    [...kind.split(" "), JSON.stringify(options)],
    { env: { ...process.env, NODE_ENV: "production" } },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error(`${kind} could not be started`);
  const exit = once(child, "exit");
  const nextMessage = async () => {
    const [message] = await Promise.race([once(child, "message"), exit]);
    if (typeof message !== "object") throw new Error(`The server ${kind} ended: ${message}`);
    return message;
  };
  const { port } = await nextMessage();
  return {
    kind,
    port,
    origin: `http://127.0.0.1:${port}`,
    async cpuMicros() {
      const answer = nextMessage();
      child.send("usage");
      const { cpuMicros } = await answer;
      return cpuMicros + childrenCpuMicros(pid);
    },
    peakMemory: () => peakMemoryBytes(pid),
    residentMemory: () => treeMemoryBytes(pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.send("stop");
      await exit;
    },
  };
}
