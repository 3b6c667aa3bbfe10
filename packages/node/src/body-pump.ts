import type { Server, ServerResponse } from "node:http";
import { ServiceError, type UploadSlot } from "@outrigger/core";
import { ClientLeftError } from "./connection-close.ts";
import type { Incoming } from "./incoming.ts";
import { createPace } from "./pace.ts";

/** Requests that wait for `100 Continue`, with their responses. */
const waiting = new WeakMap<Incoming, ServerResponse>();

export interface BodyTarget {
  /** @returns Whether the target accepts more now; after `false` the pump waits for `resume`. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Called at most once, and never after `end`. */
  fail(error: unknown): void;
}

export interface BodyLimits {
  maxBytes: number;
  /** Fails with `timeout` if no byte arrives for this long. */
  idleMs: number;
  /** Fails with `timeout` if the average rate is lower; 0: no limit. As in `UploadLimits`. */
  minBytesPerSecond: number;
  /** Slot of the upload, entered by the caller. As in `UploadLimits`. */
  slot?: UploadSlot;
}

export interface BodyPump {
  resume(): void;
  /** Stops reading the request, which stays open for the reply. */
  stop(): void;
}

/**
 * Reads a request's body into `target`. Fails as soon as the body exceeds a limit or the client disconnects.
 * Unlike `pipeline` it never destroys the request: that would close the connection before the reply.
 */
export function pumpBody(
  req: Incoming,
  limits: BodyLimits,
  signal: AbortSignal,
  target: BodyTarget,
): BodyPump {
  const pace = createPace(limits.minBytesPerSecond);
  let total = 0;
  let isWaiting = false;
  let isStopped = false;
  /** Whether a chunk waits for the slot of its upload. */
  let hasChunk = false;
  let hasEnded = false;

  const stop = () => {
    if (isStopped) return;
    isStopped = true;
    clearTimeout(timer);
    req.off("data", onData).off("end", onEnd).off("close", onClose);
    signal.removeEventListener("abort", onAbort);
    if (!req.readableEnded) req.pause();
  };
  const fail = (error: unknown) => {
    if (isStopped) return;
    stop();
    target.fail(error);
  };
  const onData = (chunk: Buffer) => {
    total += chunk.length;
    timer.refresh();
    if (total > limits.maxBytes) {
      fail(new ServiceError("too_large", `The body is over the limit of ${limits.maxBytes} bytes`));
    } else if (!pace.add(chunk.length)) {
      const rate = `${limits.minBytesPerSecond} bytes per second`;
      fail(new ServiceError("timeout", `The body arrives too slowly: less than ${rate} on average`));
    } else if (limits.slot?.mayRead(chunk.length) === false) {
      void waitForSlot(limits.slot, chunk);
    } else {
      deliver(chunk);
    }
  };
  const deliver = (chunk: Buffer) => {
    if (!target.write(chunk) && !isStopped) hold();
  };
  const hold = () => {
    isWaiting = true;
    pace.pause();
    req.pause();
  };
  const resume = () => {
    if (!isWaiting || isStopped) return;
    isWaiting = false;
    pace.resume();
    timer.refresh();
    req.resume();
  };
  const waitForSlot = async (slot: UploadSlot, chunk: Buffer) => {
    hold();
    hasChunk = true;
    try {
      await slot.wait(signal);
    } catch (error) {
      fail(error);
      return;
    }
    if (isStopped) return;
    hasChunk = false;
    resume();
    deliver(chunk);
    if (hasEnded) onEnd();
  };
  const onEnd = () => {
    hasEnded = true;
    // A fully buffered body ends although it is paused, while its last chunk still waits for its slot.
    if (hasChunk) return;
    stop();
    target.end();
  };
  const onAbort = () => fail(signal.reason);
  // Reached only if the signal no longer watches, because the service did not wait for this body.
  const onClose = () => {
    if (!hasEnded) fail(new ClientLeftError());
  };
  const onIdle = () => {
    // While the pump makes the client wait, the silence is not the client's fault.
    if (isWaiting) timer.refresh();
    else fail(new ServiceError("timeout", `No data arrived for ${limits.idleMs} ms`));
  };
  const timer = setTimeout(onIdle, limits.idleMs);

  if (signal.aborted) {
    // In a microtask, because the caller does not have the pump yet.
    queueMicrotask(onAbort);
  } else {
    signal.addEventListener("abort", onAbort);
    sendContinue(req);
    req.on("data", onData).on("end", onEnd).on("close", onClose);
    req.resume();
  }
  return { resume, stop };
}

/** Whether other code has read from the request's body or is about to. */
export function isBodyTaken(req: Incoming): boolean {
  return req.isTaken === true || req.readableDidRead || req.readableEnded || req.readableFlowing === true;
}

/**
 * Whether the request has a body, according to its header (RFC 9112 §6.3, RFC 9113 §8.1). `undefined`: only reading the
 * body shows it.
 */
export function hasBody(req: Incoming): boolean | undefined {
  const length = req.headers["content-length"];
  if (length !== undefined) return Number(length) > 0;
  if (req.httpVersionMajor === undefined)
    return req.headers["transfer-encoding"] === undefined ? undefined : true;
  if (req.httpVersionMajor < 2) return req.headers["transfer-encoding"] !== undefined;
  // In HTTP/2, Node's compatibility request has the stream, which records whether it ended with the header.
  const { stream } = req as Incoming & { stream?: { endAfterHeaders?: boolean } };
  return stream?.endAfterHeaders !== true;
}

/** The error for a body that the host app read before Outrigger without leaving a usable result. */
export function bodyTakenError(): ServiceError {
  return new ServiceError(
    "host_misuse",
    "The host app read the request body before Outrigger could: mount Outrigger before body parsers, " +
      "or leave the parsed body on the request",
  );
}

/**
 * Answers `Expect: 100-continue` (RFC 9110 §10.1.1) when a service begins to read the body, and not before. A client thus
 * keeps its body if the request is refused. Only for servers whose every body is read by a service: any other
 * reader would wait for a body that its client withholds.
 */
export function deferContinue(server: Server): void {
  server.on("checkContinue", (req, res) => {
    waiting.set(req, res);
    server.emit("request", req, res);
  });
}

/** Asks a client that waits for `100 Continue` for its body. */
export function sendContinue(req: Incoming): void {
  const res = waiting.get(req);
  if (res === undefined) return;
  waiting.delete(req);
  if (!res.headersSent) res.writeContinue();
}
