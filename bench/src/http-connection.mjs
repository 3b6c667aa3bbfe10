import { connect } from "node:net";

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {number} length Bytes of the body.
 */

/**
 * A reading speed: after `bytes` the client waits until `everyMs` have passed.
 * @typedef {{ bytes: number, everyMs: number }} Pace
 */

/**
 * One keep-alive connection that sends prepared bytes and counts the bytes received. It is cheap enough not to be the
 * bottleneck. It understands answers with a Content-Length, and answers without a body.
 * @typedef {object} Connection
 * @property {(request: readonly Buffer[]) => Promise<Answer>} send One at a time. Rejects when the connection breaks.
 * @property {() => boolean} isOpen Servers close those that are idle for seconds.
 * @property {() => void} close
 */

const CLOSE_AFTER_MS = 100;

/**
 * @param {number} port On this machine.
 * @param {{ pace?: Pace | undefined, localAddress?: string | undefined }} [options] `localAddress`: the client's own.
 * @returns {Promise<Connection>}
 */
export function openConnection(port, { pace, localAddress } = {}) {
  /** @type {{ resolve(answer: Answer): void, reject(error: Error): void } | null} */
  let waiting = null;
  let head = "";
  let status = 0;
  let length = 0;
  let left = -1;

  const socket = connect({
    port,
    host: "127.0.0.1",
    noDelay: true,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  const timer = pace === undefined ? undefined : setInterval(() => resume(), pace.everyMs);
  let allowance = pace?.bytes ?? Number.POSITIVE_INFINITY;
  const resume = () => {
    allowance = pace?.bytes ?? Number.POSITIVE_INFINITY;
    socket.resume();
  };

  socket.on("data", (chunk) => {
    allowance -= chunk.length;
    if (allowance <= 0) socket.pause();
    let body = chunk.length;
    if (left === -1) {
      const end = chunk.indexOf("\r\n\r\n");
      head += chunk.toString("latin1", 0, end === -1 ? chunk.length : end + 4);
      if (end === -1) return;
      body -= end + 4;
      status = Number(head.slice(9, 12));
      length = bodyLength(head, status);
      left = length;
    }
    left -= body;
    if (left !== 0 && left > 0) return;
    const { resolve, reject } = waiting ?? { resolve() {}, reject() {} };
    waiting = null;
    const isWhole = left === 0;
    head = "";
    left = -1;
    if (isWhole) resolve({ status, length });
    else reject(new Error(`The answer has no Content-Length, or more bytes than it says (status ${status})`));
  });
  const fail = (/** @type {Error} */ error) => {
    clearInterval(timer);
    waiting?.reject(error);
    waiting = null;
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("The server closed the connection")));

  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve({
        send(request) {
          return new Promise((done, failed) => {
            waiting = { resolve: done, reject: failed };
            socket.cork();
            for (const bytes of request) socket.write(bytes);
            socket.uncork();
          });
        },
        isOpen: () => socket.readyState === "open",
        close() {
          clearInterval(timer);
          // A streaming server learns only after its last byte that the body is complete: closing now would be an
          // error.
          setTimeout(() => socket.destroy(), CLOSE_AFTER_MS);
        },
      });
    });
  });
}

/**
 * @param {string} head
 * @param {number} status
 */
function bodyLength(head, status) {
  if (status === 304 || status === 204) return 0;
  const match = /\r\ncontent-length: *(\d+)\r\n/i.exec(head);
  return match === null ? -2 : Number(match[1]);
}
