import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { abortable } from "../../async/abortable.ts";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { Call } from "../../contracts/call.ts";
import type { Admission } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { FairGate } from "../../http/fair-gate.ts";
import { withBody } from "../../stores/blob-body.ts";
import type { ImageSettings } from "../image-settings.ts";
import { RefusedUpload } from "../life/deny-list.ts";
import { type ImageRecord, summaryOf } from "../record/image-record.ts";
import { type InspectedFile, type InspectVerdict, isReason } from "../record/inspect-rules.ts";
import type { UploadedFile } from "../uploads/uploaded-file.ts";
import { type InspectedAdmission, readyRecord } from "./lease.ts";
import type { ProcessingContext } from "./processing-context.ts";

/** Most calls of `inspect` at once, and most that wait. */
const INSPECTED_AT_ONCE = 16;
const MAX_WAITING = 1000;
const MAX_WAIT_MS = 300_000;
const RETRY_MS = 5_000;

/** The slots for calls of `inspect` of one service. Their time limit starts with their slot. */
export function createInspectionGate(): FairGate {
  return new FairGate({
    slots: INSPECTED_AT_ONCE,
    maxQueue: MAX_WAITING,
    refuse: () =>
      new ServiceError("overloaded", "Too many uploads are waiting to be inspected", {
        retryAfterMs: RETRY_MS,
      }),
  });
}

/** Where an upload comes from, and when its work is abandoned. */
interface UploadOrigin {
  /** See {@link UploadPatience.client}. */
  client: string;
  call: Call | null;
  signal: AbortSignal;
}

/**
 * Validates and cleans an upload, then has the host inspect it. Rejects with {@link RefusedUpload}, also for cleaned bytes that are
 * denied.
 */
export async function admitUpload(
  context: ProcessingContext,
  record: ImageRecord,
  upload: UploadedFile,
  { client, call, signal }: UploadOrigin,
): Promise<InspectedAdmission> {
  signal.throwIfAborted();
  const { renderer, renders, settings } = context;
  const { keepMetadata, keepPdfActions } = settings;
  const { source, cleanedPath } = upload;
  const options = { cleanedPath, keepMetadata, keepPdfActions };
  const admission = await renders
    .admit(client, signal, (given) => renderer.admit(source, record.source ?? record.type, options, given))
    .catch((error: unknown) => {
      if (isServiceError(error, "unsupported_media") && error.cause !== undefined)
        settings.log.info(
          { id: record.id, type: record.type, cause: String(error.cause) },
          "image unreadable",
        );
      throw error;
    });
  const { sha256 } = admission.cleaned ?? record;
  // Its first hash is checked before the renderer works. A takedown outranks the refusal.
  if (record.withheld === null && sha256 !== record.sha256) await context.denied.requireAllowed([sha256]);
  // Another process, which had an `inspect`, promised the inspection.
  if (settings.inspect === null && !record.processing?.inspect) return admission;
  const verdict = await inspectAdmitted(context, record, upload, admission, { client, call, signal });
  if (verdict === "accept") return admission;
  // A refusal would end a withheld image: an operator decides after the release.
  if (verdict === "hold" || record.withheld !== null) return { ...admission, isHeld: true };
  throw new RefusedUpload("forbidden", verdict.refuse);
}

/** Has the host inspect an upload when its client gets a slot. Rejects with `overloaded`, and with the reason of `signal`. */
async function inspectAdmitted(
  { inspections, settings }: ProcessingContext,
  record: ImageRecord,
  upload: UploadedFile,
  admission: Admission,
  { client, call, signal }: UploadOrigin,
): Promise<InspectVerdict> {
  const slot = await inspections.enter(client, { signal, maxWaitMs: MAX_WAIT_MS });
  const file = inspectedFile(upload, admission);
  // A handler that an abandoned upload leaves behind keeps its slot.
  const verdict = verdictOf(settings, record, admission, file, { call, signal }).finally(slot.leave);
  try {
    return await abortable(verdict, signal);
  } finally {
    // The caller removes it then.
    await file.catch(() => undefined);
  }
}

/** The host's verdict, or `hold` for a failure. Never rejects. After an abort, the host is not asked, and no failure reported. */
async function verdictOf(
  { inspect, inspectTimeoutMs, now, onError }: ImageSettings,
  record: ImageRecord,
  admission: Admission,
  inspected: Promise<InspectedFile>,
  { call, signal }: Pick<UploadOrigin, "call" | "signal">,
): Promise<InspectVerdict> {
  try {
    const file = await inspected;
    signal.throwIfAborted();
    if (inspect === null) throw new Error("this process has no option inspect");
    const ready = readyRecord(record, admission, now());
    const { sha256, width, height, pages } = ready;
    const image = { ...summaryOf(ready), sha256, width, height, pages };
    const asked = (async () => inspect(file, image, call))();
    if (await isSettledWithin(asked, inspectTimeoutMs)) return requireVerdict(await asked);
    throw new Error(`it takes longer than ${inspectTimeoutMs} ms`);
  } catch (cause) {
    if (!signal.aborted) onError(new Error(`The inspection of image ${record.id} failed: hold`, { cause }));
    return "hold";
  }
}

/** @throws TypeError for anything but a verdict. */
function requireVerdict(given: unknown): InspectVerdict {
  if (given === "accept" || given === "hold") return given;
  const { refuse } = Object(given) as { refuse?: unknown }; // Checked below.
  if (isReason(refuse)) return { refuse };
  throw new TypeError(
    'it must return "accept", "hold" or { refuse: reason }, a reason of 1 to 1000 characters',
  );
}

/** The bytes to be stored. An upload that is no file of its own, as in a remote store, gets one. */
async function inspectedFile(
  { source, cleanedPath }: UploadedFile,
  { cleaned }: Admission,
): Promise<InspectedFile> {
  const isFile = "path" in source && source.start === undefined;
  const path = cleaned === null && isFile ? source.path : cleanedPath;
  if (cleaned === null && !isFile) {
    const bytes = "path" in source ? createReadStream(source.path, { start: source.start }) : source.bytes;
    await withBody(bytes, () => writeFile(path, bytes));
  }
  return {
    path,
    bytes: () => readFile(path),
    // A stream that outlives the file must not end the process.
    stream: () => createReadStream(path).on("error", () => undefined),
  };
}
