import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childrenCpuMicros, descendantsOf, peakMemoryBytes, treeMemoryBytes } from "./process-tree.mjs";

/** @import { ServerKind, ServerOptions } from "../servers/kinds.mjs" */

/**
 * A server under test, in a process of its own.
 * @typedef {object} ServerProcess
 * @property {ServerKind} kind
 * @property {number} port
 * @property {string} origin
 * @property {() => Promise<number>} cpuMicros User and system time so far, that of its children included.
 * @property {() => { host: number, children: number }} peakMemory Bytes: the most that the server's own process has
 *   held, and the sum of that over its living children.
 * @property {() => number} residentMemory Bytes that the server's own process and all below it hold now.
 * @property {() => Promise<void>} stop
 */

/**
 * @param {ServerKind} kind
 * @param {ServerOptions} options
 * @param {string | null} profileDirectory
 * @returns {Promise<ServerProcess>}
 */
export async function startServer(kind, options, profileDirectory) {
  const child = fork(
    fileURLToPath(new URL("../servers/serve.mjs", import.meta.url)),
    [kind, JSON.stringify(options)],
    {
      execArgv:
        profileDirectory === null
          ? []
          : ["--cpu-prof", `--cpu-prof-dir=${profileDirectory}`, `--cpu-prof-name=${kind}.cpuprofile`],
      env: { ...process.env, NODE_ENV: "production" },
    },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error(`${kind} could not be started`);
  /** @type {(reason: Error) => void} */
  let reject = () => {};
  /** @type {Promise<never>} */
  const ended = new Promise((_resolve, fail) => {
    reject = fail;
  });
  ended.catch(() => {});
  child.once("exit", (code, signal) => reject(new Error(`The server ${kind} ended: ${code ?? signal}`)));

  const nextMessage = async () => {
    const [message] = await Promise.race([once(child, "message"), ended]);
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
    peakMemory() {
      const children = descendantsOf(pid).reduce((sum, each) => sum + peakMemoryBytes(each), 0);
      return { host: peakMemoryBytes(pid), children };
    },
    residentMemory: () => treeMemoryBytes(pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.send("stop");
      await gone;
    },
  };
}
