import type { Server, ServerResponse } from "node:http";
import { ServiceError, type UploadSlot } from "@outrigger/core";
import { bytesText } from "@outrigger/core/values";
import { ClientLeftError } from "./connections.ts";
import type { Incoming } from "./incoming.ts";

/** Time before the average rate of a sender is checked. A separate limit applies to silence. */
const GRACE_MS = 30_000;

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

/**
 * Reads a request's body into a target, from now on. Fails as soon as the body exceeds a limit or the client disconnects.
 * Unlike `pipeline` it never destroys the request: that would close the connection before the reply.
 */
export class BodyPump {
  readonly #req: Incoming;
  readonly #limits: BodyLimits;
  readonly #signal: AbortSignal;
  readonly #target: BodyTarget;
  readonly #timer: NodeJS.Timeout;
  #total = 0;
  /** Time of the first byte, and how long the target or the slot has made the client wait since. */
  #beganAt: number | undefined;
  #heldMs = 0;
  /** Time since which the target or the slot makes the client wait; `undefined`: neither does. */
  #heldAt: number | undefined;
  #isStopped = false;
  /** Whether a chunk waits for the slot of its upload. */
  #hasChunk = false;
  #hasEnded = false;

  constructor(req: Incoming, limits: BodyLimits, signal: AbortSignal, target: BodyTarget) {
    this.#req = req;
    this.#limits = limits;
    this.#signal = signal;
    this.#target = target;
    this.#timer = setTimeout(this.#onIdle, limits.idleMs);
    if (signal.aborted) {
      // In a microtask, because the caller does not have the pump yet.
      queueMicrotask(this.#onAbort);
      return;
    }
    signal.addEventListener("abort", this.#onAbort);
    sendContinue(req);
    req.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
    req.resume();
  }

  /** Resumes reading after the target was full. */
  resume(): void {
    if (this.#heldAt === undefined || this.#isStopped) return;
    this.#heldMs += performance.now() - this.#heldAt;
    this.#heldAt = undefined;
    this.#timer.refresh();
    this.#req.resume();
  }

  /** Stops reading the request, which stays open for the reply. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#req.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (!this.#req.readableEnded) this.#req.pause();
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#target.fail(error);
  }

  #hold(): void {
    this.#heldAt ??= performance.now();
    this.#req.pause();
  }

  #deliver(chunk: Buffer): void {
    if (!this.#target.write(chunk) && !this.#isStopped) this.#hold();
  }

  async #waitForSlot(slot: UploadSlot, chunk: Buffer): Promise<void> {
    this.#hold();
    this.#hasChunk = true;
    try {
      await slot.wait(this.#signal);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#isStopped) return;
    this.#hasChunk = false;
    this.resume();
    this.#deliver(chunk);
    if (this.#hasEnded) this.#onEnd();
  }

  readonly #onData = (chunk: Buffer): void => {
    const { maxBytes, minBytesPerSecond, slot } = this.#limits;
    const now = performance.now();
    this.#beganAt ??= now;
    this.#total += chunk.length;
    this.#timer.refresh();
    const elapsedMs = now - this.#beganAt - this.#heldMs;
    if (this.#total > maxBytes) {
      this.#fail(new ServiceError("too_large", `The body is over the limit of ${bytesText(maxBytes)}`));
    } else if (elapsedMs > GRACE_MS && this.#total * 1000 < minBytesPerSecond * elapsedMs) {
      const rate = `${minBytesPerSecond} bytes per second`;
      this.#fail(new ServiceError("timeout", `The body arrives too slowly: less than ${rate} on average`));
    } else if (slot?.mayRead(chunk.length) === false) {
      void this.#waitForSlot(slot, chunk);
    } else {
      this.#deliver(chunk);
    }
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    // A fully buffered body ends although it is paused, while its last chunk still waits for its slot.
    if (this.#hasChunk) return;
    this.stop();
    this.#target.end();
  };

  readonly #onAbort = (): void => this.#fail(this.#signal.reason);

  /** Reached only if the signal no longer watches, because the service did not wait for this body. */
  readonly #onClose = (): void => {
    if (!this.#hasEnded) this.#fail(new ClientLeftError());
  };

  readonly #onIdle = (): void => {
    // While the pump makes the client wait, the silence is not the client's fault.
    if (this.#heldAt !== undefined) this.#timer.refresh();
    else this.#fail(new ServiceError("timeout", `No data arrived for ${this.#limits.idleMs} ms`));
  };
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
