import { type CreatedImage, type ImagesClient, OutriggerError } from "@outrigger/client";
import type { Stage } from "../store/uploads.ts";
import { outcomeOf, type Refusal } from "./outcome.ts";

/** A file to send. */
export interface FileToSend {
  key: string;
  file: File;
  /** Media type to send. */
  type: string;
  name: string;
  /** Called for the first attempt; retries of the same upload repeat its result. `undefined`: the default. `null`: never. */
  expiresAt(): string | null | undefined;
  ticket: string | undefined;
}

export interface SenderOptions {
  /** A client without retries: they are made here, where the user sees them. */
  client: ImagesClient;
  /** Whether the service takes resumable uploads. */
  isResumable: boolean;
  onStage(key: string, stage: Stage): void;
  onCreated(key: string, created: CreatedImage): void;
  /** The service stored a file that had been cancelled. */
  onUnwanted(created: CreatedImage): void;
}

/** The upload of one file, with all its attempts. */
interface Sending {
  /** What the service recognises a repeated upload by: both are the same in all attempts. `null`: the next attempt is a new upload. */
  identity: { idempotencyKey: string; expiresAt: string | null | undefined } | null;
  /** Bytes that the present attempt has sent, with those that the service had. */
  sentBytes: number;
  /** Most of them in any attempt. */
  mostBytes: number;
  /** Ends the present attempt. */
  attempt: AbortController;
  isAllSent: boolean;
  isCancelled: boolean;
}

const SIMULTANEOUS = 3;
const NO_REPLY: Refusal = { status: 0, detail: "", retryAfterMs: null };

/** Sends files to the service, a few at a time, and retries where that can help. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #sendings = new Map<string, Sending>();
  #freePlaces = SIMULTANEOUS;
  readonly #waiting: (() => void)[] = [];
  /** Unix milliseconds until which the service asked to wait. */
  #heldUntilMs = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    // A running request would hang until the system gives up. The service recognises the retry by its key.
    addEventListener("offline", () => {
      for (const { attempt } of this.#sendings.values()) attempt.abort();
    });
  }

  /** Sends a file, or sends it again after a failure. */
  async send(given: FileToSend): Promise<void> {
    const { key } = given;
    const { onStage } = this.#options;
    const sending: Sending = {
      identity: this.#sendings.get(key)?.identity ?? null,
      sentBytes: 0,
      mostBytes: 0,
      attempt: new AbortController(),
      isAllSent: false,
      isCancelled: false,
    };
    this.#sendings.set(key, sending);
    onStage(key, { kind: "queued" });
    for (let brokenCount = 0; !sending.isCancelled; ) {
      const { mostBytes } = sending;
      const refusal = await this.#attempt(given, sending);
      if (!this.#options.isResumable) sending.sentBytes = 0;
      else if (sending.mostBytes > mostBytes) brokenCount = 0;
      if (refusal === null) return;
      if (sending.isCancelled) return;
      const outcome = outcomeOf(refusal, brokenCount, given.ticket);
      if (outcome.kind === "failed") {
        if (outcome.isSettled) sending.identity = null;
        return onStage(key, outcome);
      }
      if (outcome.cause === "busy")
        this.#heldUntilMs = Math.max(this.#heldUntilMs, Date.now() + outcome.delayMs);
      // A failure while offline does not count: the next attempt waits until the browser is online.
      else if (navigator.onLine) {
        brokenCount += 1;
        onStage(key, { kind: "waiting", cause: "broken", sentBytes: sending.sentBytes });
        await pause(outcome.delayMs);
      }
    }
  }

  /** Cancels an upload. If its bytes have arrived already, `onUnwanted` gets the image. */
  cancel(key: string): void {
    const sending = this.#sendings.get(key);
    if (sending === undefined) return;
    this.#sendings.delete(key);
    sending.isCancelled = true;
    // The client deletes the part that the service has.
    if (!sending.isAllSent) sending.attempt.abort();
  }

  /** @returns why the file was not stored; `null` if it was, or if the upload was cancelled. */
  async #attempt(given: FileToSend, sending: Sending): Promise<Refusal | null> {
    await this.#enter();
    try {
      await this.#untilAllowed(given.key, sending);
      if (sending.isCancelled) return null;
      const created = await this.#upload(given, sending);
      if (sending.isCancelled) this.#options.onUnwanted(created);
      else {
        this.#sendings.delete(given.key);
        this.#options.onCreated(given.key, created);
      }
      return null;
    } catch (error) {
      return error instanceof OutriggerError ? error : NO_REPLY;
    } finally {
      sending.isAllSent = false;
      this.#leave();
    }
  }

  /** Resolves when the service has stored the file, also if it is not processed yet. */
  #upload(given: FileToSend, sending: Sending): Promise<CreatedImage> {
    const { key, file, type, name, expiresAt, ticket } = given;
    sending.identity ??= { idempotencyKey: randomKey(), expiresAt: expiresAt() };
    const attempt = new AbortController();
    sending.attempt = attempt;
    const { onStage, isResumable } = this.#options;
    const report = (sentBytes: number) => {
      sending.sentBytes = sentBytes;
      sending.mostBytes = Math.max(sending.mostBytes, sentBytes);
      if (!sending.isCancelled) onStage(key, { kind: "sending", sentBytes });
    };
    report(sending.sentBytes);
    const { lastModified } = file;
    return new Promise((resolve, reject) => {
      this.#options.client
        .upload(new File([file], file.name, { type, lastModified }), {
          ...sending.identity,
          name,
          ticket,
          signal: attempt.signal,
          resumable: isResumable,
          onProgress({ sentBytes, totalBytes }) {
            sending.isAllSent = sentBytes >= totalBytes;
            report(sentBytes);
          },
          onCreated(created) {
            resolve(created);
            // The page itself waits until the image is processed.
            attempt.abort();
          },
        })
        .catch(reject);
    });
  }

  /** Waits for one of the simultaneous uploads to end. */
  async #enter(): Promise<void> {
    if (this.#freePlaces > 0) this.#freePlaces -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#freePlaces += 1;
    else next();
  }

  /** Waits while the browser is offline or the service asked to wait. */
  async #untilAllowed(key: string, sending: Sending): Promise<void> {
    const { onStage } = this.#options;
    const { sentBytes } = sending;
    while (!sending.isCancelled) {
      if (!navigator.onLine) {
        onStage(key, { kind: "waiting", cause: "offline", sentBytes });
        await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
      } else if (this.#heldUntilMs > Date.now()) {
        onStage(key, { kind: "waiting", cause: "busy", sentBytes });
        await pause(this.#heldUntilMs - Date.now());
      } else return;
    }
  }
}

/** 128 random bits in hex. `crypto.randomUUID` does not exist on pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
