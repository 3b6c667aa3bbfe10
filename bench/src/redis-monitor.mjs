import { once } from "node:events";
import { connect } from "node:net";

/** @import { RedisServer } from "../../test/support/redis-server.ts" */

/** `+<time> [<database> <address, or "lua">] "<command>" …`; the rest of the line may be megabytes. */
const LINE = /^\+\S+ \[\d+ (\S+)\] "([^"]+)"/;
const HEAD_BYTES = 100;

/**
 * The commands that a server receives while `work` runs, as reported by MONITOR.
 * @param {RedisServer} server
 * @param {() => Promise<unknown>} work
 * @returns {Promise<Record<string, number>>} Count of each command; the commands within a script count as part of it.
 */
export async function commandsDuring(server, work) {
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  /** @type {Record<string, number>} */
  const counts = {};
  const end = `end-${Math.random()}`;
  let head = "";
  const isOver = new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The server closed the connection")));
    socket.on("data", (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        take(head + chunk.toString("latin1", from, Math.min(at, from + HEAD_BYTES)));
        head = "";
        from = at + 1;
      }
      if (head.length < HEAD_BYTES) head += chunk.toString("latin1", from, from + HEAD_BYTES);
    });
    /** @param {string} line */
    const take = (line) => {
      if (line.includes(end)) resolve(undefined);
      const [, from, command = ""] = LINE.exec(line) ?? [];
      if (from === undefined || from === "lua") return;
      const name = command.toUpperCase();
      counts[name] = (counts[name] ?? 0) + 1;
    };
  });
  isOver.catch(() => {});
  socket.write("MONITOR\r\n");
  await once(socket, "data");
  await work();
  await server.cli("ECHO", end);
  await isOver;
  socket.destroy();
  delete counts.ECHO;
  return counts;
}

/** @param {Record<string, number>} counts */
export function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
