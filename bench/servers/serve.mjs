/** A server under test: `serve.mjs <file> <function> <options as JSON>`, forked by the benchmark. */
import { createServer } from "node:http";

const [file, name = "", options = "{}"] = process.argv.slice(2);
const { [name]: start } = await import(`./${file}.mjs`);
const { close, listener } = await start(JSON.parse(options));
const server = createServer(listener);
// A server that waits for the CPU would close connections, as idle ones, at the moment of their next use.
server.keepAliveTimeout = 0;

process.on("message", async (message) => {
  if (message === "usage") {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
  }
  if (message === "stop") {
    server.close();
    server.closeAllConnections();
    await close?.();
    process.exit();
  }
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Not listening on TCP");
  process.send?.({ port: address.port });
});
