import type { KeptMeta } from "../../saved/kept-uploads.ts";
import { kindOf, refusalOf, sentType } from "../file-kinds.ts";
import { type ConvertedFile, convertFile, readIntake } from "../intake/convert-file.ts";
import type { ForeignKind } from "../intake/foreign-kind.ts";
import type { Stage } from "../store/uploads.ts";
import { createUppy, type SentFile, type SentMeta } from "./create-uppy.ts";
import { outcomeOf, parseRetryAfter, type Refusal, readDetail } from "./outcome.ts";
import { createSendGate } from "./send-gate.ts";

export interface SenderOptions {
  /** URL that files are posted to. */
  endpoint: string;
  maxUploadBytes: number;
  /** Form fields of a new upload. */
  fieldsOf(key: string, file: File): Pick<SentMeta, "name" | "expiresAt">;
  /**
   * @param refusal why the file is not sent; `null` when it is.
   * @param isForeign whether the file is converted first.
   */
  onAdded(key: string, file: File, refusal: string | null, isForeign: boolean): void;
  /** Another file is sent instead of the chosen one. */
  onConverted(key: string, chosen: File, converted: ConvertedFile): void;
  /** Files were dropped on the page. */
  onDropped(files: readonly File[]): void;
  /** Called before each attempt. `chosen` is the file before its conversion. */
  onStarted(meta: SentMeta, file: File, chosen: File): void;
  /** The upload was cancelled or refused: a further attempt is a new upload. */
  onEnded(key: string): void;
  /** Awaited before the file is sent. `false`: it is not sent until `retry`. */
  admit(key: string, file: File): Promise<boolean>;
  /** Called after `onAdded` was called for every file of a batch. */
  onAllAdded(): void;
  onStage(key: string, stage: Stage): void;
  /** The service accepted the file. `body` is its reply. */
  onAccepted(key: string, body: unknown, file: File): void;
  /** The service accepted a file that had been cancelled. */
  onUnwanted(body: unknown): void;
}

/** Sends files to the service and retries where that can help. */
export interface Sender {
  add(files: readonly AddedFile[]): void;
  /** Sends a failed file again, whether the upload or its processing failed. */
  retry(key: string): void;
  /** Cancels the upload if it is still running, and drops the file. */
  forget(key: string): void;
}

/** A file to send. */
export interface AddedFile {
  file: File;
  /** Key of an upload that a closed window left. Absent: a new upload. */
  key?: string;
  /** What that window sent. `null`: nothing. */
  meta?: KeptMeta | null;
}

interface Sending {
  file: File;
  chosen: File;
  /** `null` until the file is sent. */
  meta: SentMeta | null;
  /** Whether `meta` is of a closed window. */
  isContinued: boolean;
  /** Attempts in a row that lost their connection. */
  brokenCount: number;
  isAllSent: boolean;
  isUnwanted: boolean;
}

/** Source of the files that this sender gives to Uppy. All others were dropped. */
const TAKEN = "taken";

export function createSender(options: SenderOptions): Sender {
  const { endpoint, maxUploadBytes, fieldsOf, onStage } = options;
  const gate = createSendGate();
  const sendings = new Map<string, Sending>();
  const dropped: File[] = [];
  const uppy = createUppy({ endpoint, take, beforeSending });

  /** Files that were dropped on the page are left out here, and added by `add`. */
  function take(added: SentFile): SentFile | false {
    if (!(added.data instanceof File)) return false;
    if (added.source !== TAKEN) {
      if (dropped.push(added.data) === 1) queueMicrotask(() => options.onDropped(dropped.splice(0)));
      return false;
    }
    const { key } = added.meta;
    const sending = sendings.get(key);
    const kind = kindOf(added.data);
    if (sending === undefined || kind === null) return false;
    sending.meta ??= metaOf(key, sending.file);
    return { ...added, id: key, meta: { ...added.meta, ...sending.meta, type: sentType(kind) } };
  }

  function metaOf(key: string, file: File): SentMeta {
    return { key, idempotencyKey: randomKey(), ...fieldsOf(key, file) };
  }

  async function add(files: readonly AddedFile[]): Promise<void> {
    const intakes = await Promise.all(files.map(({ file }) => readIntake(file)));
    const added = intakes.map(({ file, foreign }, index) => {
      return { key: register({ ...files[index], file }, foreign), file, foreign };
    });
    options.onAllAdded();
    for (const { key, foreign } of added) if (foreign === null) send(key);
    for (const { key, file, foreign } of added)
      if (foreign !== null) await convertAndSend(key, file, foreign);
  }

  function register(
    { file, key = randomKey(), meta = null }: AddedFile,
    foreign: ForeignKind | null,
  ): string {
    const refusal = foreign === null ? refusalOf(file, maxUploadBytes) : null;
    if (refusal === null) {
      const isContinued = meta !== null;
      const flags = { isContinued, isAllSent: false, isUnwanted: false };
      sendings.set(key, { file, chosen: file, meta: meta && { key, ...meta }, brokenCount: 0, ...flags });
    } else options.onEnded(key);
    options.onAdded(key, file, refusal, foreign !== null);
    return key;
  }

  async function convertAndSend(key: string, file: File, foreign: ForeignKind): Promise<void> {
    if (!sendings.has(key)) return;
    const conversion = await convertFile(file, foreign);
    const sending = sendings.get(key);
    if (sending === undefined) return;
    if (conversion.file === null) return fail(key, conversion.refusal);
    const refusal = refusalOf(conversion.file, maxUploadBytes);
    if (refusal !== null) return fail(key, refusal);
    sending.file = conversion.file;
    options.onConverted(key, file, conversion);
    send(key);
  }

  function fail(key: string, message: string): void {
    sendings.delete(key);
    options.onEnded(key);
    onStage(key, { kind: "failed", message, canRetry: false });
  }

  async function beforeSending(key: string): Promise<void> {
    await gate.pass((wait) => {
      if (sendings.has(key)) onStage(key, { kind: "waiting", ...wait });
    });
    const file = sendings.get(key)?.file;
    if (file !== undefined && !(await options.admit(key, file))) {
      uppy.removeFile(key);
      options.onEnded(key);
      await new Promise(() => undefined);
    }
    // Never settles: Uppy would send the file although it was cancelled meanwhile.
    if (!sendings.has(key)) await new Promise(() => undefined);
    onStage(key, { kind: "sending", sentBytes: 0 });
  }

  function send(key: string): void {
    const sending = sendings.get(key);
    if (sending === undefined || sending.isUnwanted) return;
    sending.isAllSent = false;
    const { file, chosen } = sending;
    sending.meta ??= metaOf(key, file);
    options.onStarted(sending.meta, file, chosen);
    const { name, type } = file;
    uppy.addFile({ source: TAKEN, name, type, data: file, meta: sending.meta });
  }

  function refused(key: string, sending: Sending, refusal: Refusal): void {
    const outcome = outcomeOf(refusal, sending.brokenCount);
    const isOtherFile = sending.isContinued && refusal.status === 409 && refusal.retryAfterMs === null;
    sending.isContinued &&= !isOtherFile;
    if (sending.isUnwanted) {
      sendings.delete(key);
    } else if (isOtherFile && sending.meta !== null) {
      // The file has changed since the closed window sent it.
      sending.meta.idempotencyKey = randomKey();
      send(key);
    } else if (outcome.kind === "failed") {
      sending.brokenCount = 0;
      if (outcome.isSettled) sending.meta = null;
      if (outcome.isSettled || !outcome.canRetry) options.onEnded(key);
      onStage(key, outcome);
    } else if (outcome.cause === "busy") {
      gate.holdUntil(Date.now() + outcome.delayMs);
      send(key);
    } else {
      // A failure while offline does not count: the gate waits until the browser is online.
      sending.brokenCount += navigator.onLine ? 1 : 0;
      onStage(key, { kind: "waiting", cause: "broken", untilMs: Date.now() + outcome.delayMs });
      setTimeout(() => send(key), outcome.delayMs);
    }
  }

  // A running request would hang until the system gives up. The service recognises the retry by its key.
  addEventListener("offline", () => {
    for (const { id } of uppy.getFiles()) {
      uppy.removeFile(id);
      send(id);
    }
  });
  uppy.on("upload-progress", (file, { bytesUploaded }) => {
    const sending = file && sendings.get(file.id);
    if (!sending) return;
    const sentBytes = bytesUploaded || 0;
    sending.isAllSent = sentBytes >= sending.file.size;
    onStage(file.id, { kind: "sending", sentBytes });
  });
  uppy.on("upload-success", (file, { body }) => {
    const sending = file && sendings.get(file.id);
    if (!sending) return;
    sending.isAllSent = false;
    uppy.removeFile(file.id);
    if (sending.isUnwanted) {
      sendings.delete(file.id);
      options.onUnwanted(body);
    } else options.onAccepted(file.id, body, sending.file);
  });
  uppy.on("upload-error", (file, error) => {
    const sending = file && sendings.get(file.id);
    if (!sending) return;
    const refusal = readRefusal(error);
    // Otherwise Uppy would resend failed files together with the next added ones. This also clears the request.
    uppy.removeFile(file.id);
    refused(file.id, sending, refusal);
  });

  return {
    add: (files) => void add(files),
    retry(key) {
      onStage(key, { kind: "queued" });
      send(key);
    },
    forget(key) {
      options.onEnded(key);
      const sending = sendings.get(key);
      // The image may be stored already: the reply has what is needed to delete it.
      if (sending?.isAllSent) {
        sending.isUnwanted = true;
        return;
      }
      sendings.delete(key);
      uppy.removeFile(key);
    },
  };
}

/** 128 random bits in hex. `crypto.randomUUID` does not exist on pages without TLS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The server's reply, read from an error of Uppy; status 0 without a reply. */
function readRefusal(error: unknown): Refusal {
  const request = typeof error === "object" && error !== null && "request" in error ? error.request : null;
  if (!(request instanceof XMLHttpRequest)) return { status: 0, detail: null, retryAfterMs: null };
  return {
    status: request.status,
    detail: readDetail(request.responseText),
    retryAfterMs: parseRetryAfter(request.getResponseHeader("Retry-After"), Date.now()),
  };
}
