import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A reply as received. */
export interface RawReply {
  status: number;
  /** Status line and header lines, as latin1. */
  head: string;
  /** Lower-case names; repeated lines joined by `, `. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A reply after this time counts as a hang, and is an error that names the request. */
const HANG_MS = 60_000;

export interface ExchangeOptions {
  /** Half-closes the connection after the request. @default false */
  end?: boolean;
}

/**
 * Sends bytes to a server verbatim, in the given pieces, and reads one reply. `null` if the server closed the
 * connection without one. Rejects if none, or only half of one, arrived in time.
 */
export function exchange(
  origin: string,
  request: string | Buffer | readonly Buffer[],
  { end = false }: ExchangeOptions = {},
): Promise<RawReply | null> {
  const { hostname, port } = new URL(origin);
  const pieces = typeof request === "string" ? [Buffer.from(request, "latin1")] : [request].flat();
  const isHead = pieces[0]?.subarray(0, 5).equals(Buffer.from("HEAD ")) ?? false;
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      outcome();
    };
    const finish = (isClosed: boolean) => {
      const reply = parseReply(received, { isClosed, isHead });
      if (reply !== undefined) settle(() => resolve(reply));
      else if (isClosed && received.length === 0) settle(() => resolve(null));
      else if (isClosed)
        settle(() => reject(new Error(`Half a reply: ${received.toString("latin1", 0, 400)}`)));
    };
    const timer = setTimeout(
      () => settle(() => reject(new Error(`No reply within ${HANG_MS} ms: ${describe(pieces)}`))),
      HANG_MS,
    );
    // A server that has answered may close while we still send; only its reply matters.
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      finish(false);
    });
    socket.on("close", () => finish(true));
    socket.on("connect", async () => {
      for (const piece of pieces) {
        socket.write(piece);
        if (pieces.length > 1) await nextTurn();
      }
      if (end) socket.end();
    });
  });
}

/** Sends bytes verbatim, and reads until the server closes. Rejects if it has not closed in time. */
export function readUntilClosed(origin: string, request: string): Promise<Buffer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) });
    const timer = setTimeout(() => {
      reject(new Error(`The connection is still open after ${HANG_MS} ms`));
      socket.destroy();
    }, HANG_MS);
    socket.on("error", reject);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.write(request, "latin1");
  });
}

function describe(pieces: readonly Buffer[]): string {
  return JSON.stringify(Buffer.concat(pieces).toString("latin1", 0, 300));
}

interface Circumstances {
  isClosed: boolean;
  isHead: boolean;
}

function parseReply(received: Buffer, how: Circumstances): RawReply | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
  const rest = received.subarray(headEnd + 4);
  if (status < 200) return parseReply(rest, how);
  const headers = parseHeaders(head);
  const hasBody = !how.isHead && status !== 204 && status !== 304;
  const body = hasBody ? bodyOf(rest, headers, how.isClosed) : Buffer.alloc(0);
  return body === undefined ? undefined : { status, head, headers, body };
}

function parseHeaders(head: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

function bodyOf(rest: Buffer, headers: Record<string, string>, isClosed: boolean): Buffer | undefined {
  if (headers["transfer-encoding"] === "chunked") {
    const lastChunk = rest.indexOf("0\r\n\r\n");
    return lastChunk === -1 ? undefined : rest.subarray(0, lastChunk);
  }
  const length = headers["content-length"];
  if (length === undefined) return isClosed ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}
