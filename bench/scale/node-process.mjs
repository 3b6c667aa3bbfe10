import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childrenCpuMicros, ownCpuMicros } from "../src/process-tree.mjs";

/** @import { ServerConfig } from "outrigger" */
/** @import { S3Bucket } from "../src/test-servers.mjs" */

const BIN = fileURLToPath(new URL("../../packages/server/bin/outrigger.js", import.meta.url));

/**
 * `outrigger serve`, one node of several.
 * @typedef {object} Node
 * @property {string} origin
 * @property {number} port
 * @property {() => number} cpuMicros User and system time so far, that of its render processes included; good to 10 ms.
 * @property {() => Promise<void>} stop
 */

/**
 * @param {string} directory For its files.
 * @param {ServerConfig} config
 * @param {S3Bucket | null} s3 The bucket whose keys it uses.
 * @returns {Promise<Node>}
 */
export async function startNode(directory, config, s3) {
  const cwd = await mkdtemp(join(directory, "node-"));
  const secret = "the same for all nodes, and of 32 bytes";
  const base = { port: 0, secret, log: { level: /** @type {const} */ ("error") } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ ...base, ...config }));
  const keys =
    s3 === null
      ? {}
      : {
          AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
        };
  const child = spawn(process.execPath, [BIN, "serve"], {
    cwd,
    env: { ...process.env, ...keys, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const [line] = await Promise.race([
    once(child.stdout, "data"),
    gone.then(([code]) => {
      throw new Error(`A node ended: ${code}`);
    }),
  ]);
  const origin = /^Outrigger listens on (\S+)/.exec(String(line))?.[1];
  const { pid } = child;
  if (origin === undefined || pid === undefined) throw new Error(`A node says: ${line}`);
  return {
    origin: origin.replace(/\/$/, ""),
    port: Number(new URL(origin).port),
    cpuMicros: () => ownCpuMicros(pid) + childrenCpuMicros(pid),
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/**
 * One storage for everything, or separate ones for pictures and records.
 * @param {string} recordsUrl
 * @param {S3Bucket | null} s3
 * @param {string} [endpoint] Of a proxy to `s3`.
 */
export function storageOf(recordsUrl, s3, endpoint = s3?.endpoint) {
  if (s3 === null) return recordsUrl;
  const pictures = `s3://${s3.bucket}/pictures?endpoint=${endpoint}&timeoutMs=10000`;
  return { records: recordsUrl, originals: pictures, renditions: pictures };
}
