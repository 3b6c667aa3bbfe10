import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

const CHECK_MS = 5000;
/** A client that reads nothing for this long is disconnected. */
const IDLE_MS = 30_000;
/** A slow client is disconnected after this plus the time that the reply takes at {@link MIN_BYTES_PER_MS}. */
const GRACE_MS = 60_000;
const MIN_BYTES_PER_MS = (8 * 1024) / 1000;

/**
 * Disconnects a client that reads its reply too slowly or not at all. Node has no time-out for that, and such a
 * client would hold a connection, the buffered reply, and the file or store behind it.
 *
 * Call it when sending starts; it costs nothing if the kernel has accepted the whole reply. Only the time in which
 * the server waits for the client counts, not that in which a source is slow. The socket's own time-out belongs to
 * the host and is not changed.
 * @param size Bytes of the body. @default the header `Content-Length`, if set before `writeHead`
 */
export function watchSending(res: ServerResponse, size = sizeOf(res)): void {
  if (res.writableFinished || res.destroyed || isAccepted(res)) return;
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
  /** A value that changes whenever the client reads; `undefined` if progress cannot be observed. */
  const progress = () => {
    const queued = queuedBytes(res);
    return queued === undefined && res.writableEnded ? undefined : `${drains} ${queued}`;
  };
  const longestMs = () => {
    const bytes = size ?? socket.bytesWritten - writtenBefore;
    return GRACE_MS + bytes / MIN_BYTES_PER_MS;
  };
  const check = () => {
    // Polled instead of a `close` listener: together with those of `pipeline`, Node would warn about a leak.
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

function sizeOf(res: ServerResponse): number | undefined {
  const length = res.getHeader("Content-Length");
  return length === undefined ? undefined : Number(length);
}

/** Whether the kernel has accepted the whole reply. Unknown in HTTP/2, whose socket is shared. */
function isAccepted({ req, socket, writableEnded }: ServerResponse): boolean {
  return writableEnded && req.httpVersionMajor < 2 && socket?.writableLength === 0;
}

/**
 * Written bytes that the kernel has not accepted yet. Node does not document this number, but its own time-outs use
 * it, and nothing else changes while one long Buffer is sent. `undefined` in HTTP/2, where it covers several
 * replies, and over TLS, where it does not change until the whole Buffer is sent.
 */
function queuedBytes({ req, socket }: ServerResponse): number | undefined {
  if (req.httpVersionMajor > 1 || socket === null || socket instanceof TLSSocket) return undefined;
  const size: unknown = Reflect.get(Object(Reflect.get(socket, "_handle")), "writeQueueSize");
  return typeof size === "number" ? size : undefined;
}
