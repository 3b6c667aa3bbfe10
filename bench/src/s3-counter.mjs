import { once } from "node:events";
import { Agent, createServer, request } from "node:http";

/** @typedef {"GET" | "HEAD" | "LIST" | "PUT" | "DELETE" | "POST"} S3Operation The kinds that S3 services charge for. */

/**
 * A counting proxy to an object storage on this machine.
 * @typedef {object} S3Counter
 * @property {string} endpoint
 * @property {(work: () => Promise<unknown>) => Promise<Record<string, number>>} during How often each operation arrived
 *   while `work` ran and until there was quiet; the keys are {@link S3Operation}.
 * @property {() => Promise<void>} close
 */

const QUIET_MS = 500;

/**
 * @param {number} port Of the storage.
 * @returns {Promise<S3Counter>}
 */
export async function startS3Counter(port) {
  const agent = new Agent({ keepAlive: true });
  /** @type {Record<string, number>} */
  let counts = {};
  const total = () => Object.values(counts).reduce((all, count) => all + count, 0);
  const server = createServer((incoming, reply) => {
    const { method = "", url = "", headers } = incoming;
    const operation = method === "GET" && url.includes("list-type=2") ? "LIST" : method;
    counts[operation] = (counts[operation] ?? 0) + 1;
    // Headers stay unchanged, because the host is signed.
    const outgoing = request({ agent, host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    outgoing.on("error", () => reply.destroy());
    incoming.pipe(outgoing);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Not listening on TCP");
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    async during(work) {
      counts = {};
      await work();
      // Requests sent after the answer count, too.
      for (let seen = -1; seen !== total(); ) {
        seen = total();
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      }
      return { ...counts };
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
