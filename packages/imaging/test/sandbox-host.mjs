/**
 * A host whose environment, memory, files and servers a hostile worker tries to reach at each level of the sandbox, as native code
 * and as a script under Node's permission model. Prints the results as JSON: what was reached, or why the level does not work here.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ChildWorker } from "../dist/pool/child-worker.js";
import { nodeProgram } from "../dist/pool/node-program.js";

const ATTEMPTS = ["host", "data", "files", "network", "programs", "signals"];
const directory = mkdtempSync(join(tmpdir(), "sandbox-host-"));
const canary = process.env.SANDBOX_CANARY;
const facts = {
  ...{ pid: process.pid, canary, directory },
  app: fileURLToPath(new URL("../../../package.json", import.meta.url)),
  file: join(directory, "secret"),
  socket: join(directory, "socket"),
  abstract: `\0outrigger-${process.pid}`,
};
writeFileSync(facts.file, canary);
const servers = [createServer(), createServer(), createServer()];
const listening = (server, ...args) => new Promise((resolve) => server.listen(...args, resolve));
await listening(servers[0], 0, "127.0.0.1");
await listening(servers[1], facts.socket);
await listening(servers[2], facts.abstract);
facts.port = servers[0].address().port;

const results = {};
// The path of another Node, if the test gives one.
const node = nodeProgram(process.argv[2]);
for (const [name, level, flags] of [
  ["bubblewrap", "bubblewrap", []],
  ["none (JavaScript)", "none", node.flags],
  ["none (native code)", "none", []],
]) {
  const worker = new ChildWorker(
    {
      entry: new URL("./hostile-worker.mjs", import.meta.url),
      node: { ...node, flags },
      timeoutMs: 20_000,
      maxMemoryBytes: 512 * 1024 ** 2,
    },
    level,
  );
  try {
    await worker.ready;
    results[name] = {};
    for (const attempt of ATTEMPTS) {
      const task = { attempt, ...facts };
      results[name][attempt] = await worker.run(
        { task, source: { bytes: Buffer.alloc(0) }, read: (reached) => reached },
        () => {},
      );
    }
  } catch (error) {
    results[name] = { failure: worker.startFailure ?? String(error) };
  }
  worker.kill(new Error("done"));
  await worker.gone;
}
for (const server of servers) server.close();
rmSync(directory, { recursive: true });
process.stdout.write(JSON.stringify(results));
