import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

const CHECK_MS = 5000;
/** A client that takes nothing for so long is cut. */
const IDLE_MS = 30_000;
/** One that takes a little at a time is cut after this and what the reply takes at {@link MIN_BYTES_PER_MS}. */
const GRACE_MS = 60_000;
const MIN_BYTES_PER_MS = (8 * 1024) / 1000;

/**
 * Cuts the connection of a client that does not read its reply, or hardly. Node has no time-out of its own for that, and
 * until then the client holds a connection, what waits to be sent, and the file or store behind it.
 *
 * Call it when sending has begun, or is about to; it costs nothing where the kernel has taken the whole reply. Only time
 * counts in which the client keeps us waiting: that a source is slow is not its fault. The socket's own time-out is left
 * alone, since it is the host's.
 */
export function watchSending(res: ServerResponse): void {
  if (res.writableFinished || res.destroyed) return;
  const { socket } = res.req;
  const writtenBefore = socket.bytesWritten;
  let drains = 0;
  let lastProgress: string | undefined;
  let idleMs = 0;
  let waitedMs = 0;

  const onDrain = () => {
    drains++;
  };
  const stop = () => {
    clearInterval(timer);
    res.off("drain", onDrain).off("finish", stop);
  };
  /** What changes whenever the client takes something; `undefined` where that cannot be seen. */
  const progress = () => {
    const queued = queuedBytes(res);
    return queued === undefined && res.writableEnded ? undefined : `${drains} ${queued}`;
  };
  const longestMs = () => {
    const length = res.getHeader("Content-Length");
    const bytes = length === undefined ? socket.bytesWritten - writtenBefore : Number(length);
    return GRACE_MS + bytes / MIN_BYTES_PER_MS;
  };
  const check = () => {
    // No listener to `close`: with those of pipeline there are so many that Node warns of a leak.
    if (res.destroyed || socket.destroyed) return stop();
    const isAwaited = res.socket !== null && res.writableLength > 0;
    const seen = isAwaited ? progress() : undefined;
    idleMs = seen !== undefined && seen === lastProgress ? idleMs + CHECK_MS : 0;
    lastProgress = seen;
    if (isAwaited) waitedMs += CHECK_MS;
    if (idleMs >= IDLE_MS || waitedMs > longestMs()) {
      stop();
      res.destroy();
    }
  };
  const timer = setInterval(check, CHECK_MS).unref();
  res.on("drain", onDrain).on("finish", stop);
}

/**
 * What the kernel has not taken yet of what was written. Node does not document the number, but its own time-outs go by it,
 * and nothing else moves while one long Buffer is sent. `undefined` in HTTP/2, where it is not about one reply, and over
 * TLS, where it stays the same until the whole Buffer has gone.
 */
function queuedBytes({ req, socket }: ServerResponse): number | undefined {
  if (req.httpVersionMajor > 1 || socket === null || socket instanceof TLSSocket) return undefined;
  const size: unknown = Reflect.get(Object(Reflect.get(socket, "_handle")), "writeQueueSize");
  return typeof size === "number" ? size : undefined;
}
