import type { Call, Reply } from "../../contracts/call.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { evaluatePreconditions } from "../../http/conditional.ts";
import { HttpProblem } from "../../http/http-problem.ts";
import { changeRecord } from "../life/change-record.ts";
import { loadAny } from "../life/damaged-image.ts";
import { markDeleted } from "../life/mark-deleted.ts";
import { sweepEntry } from "../life/sweep-entry.ts";
import { parseExpiry, parseName } from "../record/image-fields.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { findForRead, findImage, requireAlive } from "./find-image.ts";
import type { ImageContext } from "./image-context.ts";
import { baseUrl, recordBody } from "./image-links.ts";
import { countRequest, requirePin } from "./limits.ts";
import { permitEdit } from "./permissions.ts";
import { hasBody, pinOf, readParameters } from "./read-body.ts";

/** What an edit changes. */
export type ImageChange = Partial<Pick<ImageRecord, "name" | "expiresAt">>;

/** `GET HEAD {base}/api/images/<id>.json`. */
export async function readRecord(context: ImageContext, call: Call, id: string): Promise<Reply> {
  if (hasBody(call)) await readParameters(call, context.settings);
  const { current } = await findForRead(context, call, id);
  switch (evaluatePreconditions(call.method, call.headers, validatorsOf(current))) {
    case "failed":
      throw preconditionFailed();
    case "not_modified":
      return { status: 304, headers: recordHeaders(current) };
    case "proceed":
      return recordReply(context, call, current);
  }
}

/** `PATCH {base}/api/images/<id>.json`: changes name and expiry, replies with the record. */
export async function patchImage(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { current, parameters, limits } = await openForEdit(context, call, id);
  const change: ImageChange = {};
  if (parameters.get("name") === "") throw new ServiceError("bad_request", "name must not be empty");
  const name = parseName(parameters.get("name"));
  if (name !== undefined) change.name = name;
  const source = parameters.sourceOf("expiresAt");
  const expiresAt = parseExpiry(
    parameters.get("expiresAt"),
    source,
    context.settings.now(),
    context.settings,
  );
  if (expiresAt !== undefined) change.expiresAt = expiresAt;
  if (name === undefined && expiresAt === undefined) {
    throw new ServiceError("bad_request", "Nothing to change: send name, expiresAt, or both");
  }
  const changed = await unlessOvertaken(context, call, id, () => changeImage(context, current, change));
  return recordReply(context, call, changed, limits);
}

/** `DELETE {base}/api/images/<id>.json`. */
export async function deleteImage(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { current, limits } = await openForEdit(context, call, id, findForRemoval);
  await unlessOvertaken(context, call, id, () => removeImage(context, current));
  return { status: 204, headers: { "Cache-Control": "no-store", ...limits } };
}

/** As {@link findImage}. An image whose record is damaged can still be deleted: its PIN depends on the ID alone. */
async function findForRemoval(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  try {
    return await findImage(context, call, id);
  } catch (error) {
    const found = isServiceError(error, "damaged") ? await loadAny(context, id) : null;
    if (found === null) throw error;
    return found;
  }
}

async function openForEdit(context: ImageContext, call: Call, id: string, find = findImage) {
  const limits = await countRequest(context, call, "edits");
  const parameters = await readParameters(call, context.settings);
  const current = await find(context, call, id);
  if (!(await permitEdit(context, call, current.record))) {
    await requirePin(context, call, id, pinOf(call, parameters));
  }
  if (evaluatePreconditions(call.method, call.headers, validatorsOf(current)) === "failed")
    throw preconditionFailed();
  return { current, parameters, limits };
}

/** A race that was lost is a failed precondition where the request names the state that it wants changed. */
async function unlessOvertaken<T>(
  context: ImageContext,
  call: Call,
  id: string,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!isServiceError(error, "conflict")) throw error;
    // Whoever was faster may have deleted or withheld it.
    const now = await findImage(context, call, id);
    if (evaluatePreconditions(call.method, call.headers, validatorsOf(now)) === "failed")
      throw preconditionFailed();
    throw error;
  }
}

/** Rejects with `conflict` while the image is processed, and when somebody else changed it since `current` was read. */
export async function changeImage(
  context: ImageContext,
  current: CurrentRecord,
  change: ImageChange,
): Promise<CurrentRecord> {
  await requireAlive(context, current);
  if (current.record.processing !== null)
    throw new ServiceError("conflict", "This image is still being processed: it can only be deleted now");
  return changeRecord(context, current, { ...current.record, ...change });
}

/** The record goes first, by compare-and-set, so that nothing is served any more; then the bytes. */
export async function removeImage(context: ImageContext, current: CurrentRecord): Promise<void> {
  const { record, entry } = await markDeleted(context, current);
  // Who works on it is in the midst of its bytes, and removes them when told.
  if (record.processing !== null) return context.jobs.cancel(record);
  // The image is gone for everybody; what could not be removed now the sweep removes.
  await sweepEntry(context, entry).catch(context.settings.onError);
}

function validatorsOf({ record, revision }: CurrentRecord) {
  return {
    etag: `"${record.id}.json.${Buffer.from(revision).toString("base64url")}"`,
    lastModifiedMs: record.updatedAt,
  };
}

function recordHeaders(current: CurrentRecord): Record<string, string> {
  const { etag, lastModifiedMs } = validatorsOf(current);
  return {
    "Cache-Control": "no-store",
    ETag: etag,
    "Last-Modified": new Date(lastModifiedMs).toUTCString(),
    Sunset: new Date(current.record.expiresAt).toUTCString(),
    "X-Content-Type-Options": "nosniff",
  };
}

function recordReply(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  more: Record<string, string> = {},
): Reply {
  const body = JSON.stringify(recordBody(baseUrl(call, context.settings.publicUrl), current.record));
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    ...recordHeaders(current),
    ...more,
  };
  return call.method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body };
}

function preconditionFailed(): HttpProblem {
  return new HttpProblem({
    status: 412,
    detail: "The image has changed since you read it.",
  });
}
