import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * A counting proxy to a PostgreSQL server on this machine.
 * @typedef {object} PostgresCounter
 * @property {string} url
 * @property {(work: () => Promise<unknown>) => Promise<number>} during How many statements arrived while `work` ran.
 * @property {() => Promise<void>} close
 */

/** Begins each execution of a prepared statement. */
const EXECUTE = "E".charCodeAt(0);

/**
 * @param {string} server URL of the server.
 * @returns {Promise<PostgresCounter>}
 */
export async function startPostgresCounter(server) {
  const { hostname, port } = new URL(server);
  let count = 0;
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
    let held = Buffer.alloc(0);
    let isStarted = false;
    client.on("data", (/** @type {Buffer} */ chunk) => {
      upstream.write(chunk);
      held = Buffer.concat([held, chunk]);
      // Each message is a type, which the first one lacks, and a length that counts itself.
      for (;;) {
        const at = isStarted ? 1 : 0;
        if (held.length < at + 4 || held.length < at + held.readUInt32BE(at)) return;
        if (isStarted && held[0] === EXECUTE) count++;
        held = held.subarray(at + held.readUInt32BE(at));
        isStarted = true;
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("Not listening on TCP");
  const url = new URL(server);
  url.port = String(address.port);
  return {
    url: url.href,
    async during(work) {
      count = 0;
      await work();
      return count;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
