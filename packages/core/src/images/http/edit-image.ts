import type { Call, Reply } from "../../contracts/call.ts";
import { isServiceError } from "../../errors.ts";
import { evaluatePreconditions } from "../../http/conditional.ts";
import { HttpProblem } from "../../http/problem.ts";
import { textReply } from "../../http/text-reply.ts";
import { changeImage, parseChange } from "../library/change-image.ts";
import { findImage } from "../library/find-image.ts";
import { loadAny } from "../life/damaged-image.ts";
import { removeImage } from "../life/end-image.ts";
import { detailsOf } from "../record/image-links.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { shownRevision } from "../record/shown-revision.ts";
import {
  baseUrl,
  findForRead,
  hasBody,
  type ImageContext,
  pinOf,
  requestParameters,
  requirePin,
} from "./image-context.ts";
import { sunsetHeader } from "./prepared-read.ts";

/** `GET HEAD {base}/api/images/<id>.json`. */
export async function getRecord(context: ImageContext, call: Call, id: string): Promise<Reply> {
  if (hasBody(call)) await requestParameters(call, context.settings);
  const { current } = await findForRead(context, call, id);
  const nowMs = context.settings.now();
  switch (evaluatePreconditions(call.method, call.headers, validatorsOf(current), nowMs)) {
    case "failed":
      throw preconditionFailed();
    case "not_modified":
      return { status: 304, headers: recordHeaders(current) };
    case "proceed":
      return recordReply(context, call, current);
  }
}

/** `PATCH {base}/api/images/<id>.json`: changes name, description, expiry and focus, and replies with the record. */
export async function patchImage(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { library } = context;
  const { current, parameters } = await openForEdit(context, call, id, () =>
    findImage(library, id, call.signal),
  );
  const given = {
    name: parameters.get("name"),
    expiresAt: parameters.get("expiresAt"),
    focus: parameters.get("focus"),
    description: parameters.get("description"),
  };
  const change = parseChange(given, parameters.sourceOf("expiresAt"), library);
  const changed = await unlessOvertaken(context, call, id, () => changeImage(library, current, change));
  return recordReply(context, call, changed);
}

/** `DELETE {base}/api/images/<id>.json`. Works for a damaged record too: the PIN depends on the ID alone. */
export async function deleteImage(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { library } = context;
  const { current } = await openForEdit(context, call, id, async () => {
    try {
      return await findImage(library, id, call.signal);
    } catch (error) {
      const found = isServiceError(error, "damaged") ? await loadAny(library, id) : null;
      if (found === null) throw error;
      return found;
    }
  });
  await unlessOvertaken(context, call, id, () => removeImage(library, current));
  return { status: 204, headers: { "Cache-Control": "no-store" } };
}

async function openForEdit(
  context: ImageContext,
  call: Call,
  id: string,
  find: () => Promise<CurrentRecord>,
) {
  const parameters = await requestParameters(call, context.settings);
  const current = await find();
  if (!(await context.permissions.permitEdit(call, current.record))) {
    await requirePin(context, call, id, pinOf(call, parameters));
  }
  if (evaluatePreconditions(call.method, call.headers, validatorsOf(current)) === "failed")
    throw preconditionFailed();
  return { current, parameters };
}

/** Runs a change. If it loses a race and the request names a revision, the reply is a failed precondition. */
async function unlessOvertaken<T>(
  { library }: ImageContext,
  call: Call,
  id: string,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!isServiceError(error, "conflict")) throw error;
    // The other request may have deleted or withheld the image.
    const now = await findImage(library, id, call.signal);
    if (evaluatePreconditions(call.method, call.headers, validatorsOf(now)) === "failed")
      throw preconditionFailed();
    throw error;
  }
}

function validatorsOf({ record }: CurrentRecord) {
  return {
    etag: `"${record.id}.json.${shownRevision(record)}"`,
    lastModifiedMs: record.updatedAt,
  };
}

function recordHeaders(current: CurrentRecord): Record<string, string> {
  const { etag, lastModifiedMs } = validatorsOf(current);
  return {
    "Cache-Control": "no-store",
    ETag: etag,
    "Last-Modified": new Date(lastModifiedMs).toUTCString(),
    ...sunsetHeader(current.record),
    "X-Content-Type-Options": "nosniff",
  };
}

function recordReply(context: ImageContext, call: Call, current: CurrentRecord): Reply {
  const body = JSON.stringify(detailsOf(baseUrl(context, call), current.record));
  return textReply(call, 200, "application/json", body, recordHeaders(current));
}

function preconditionFailed(): HttpProblem {
  return new HttpProblem({ status: 412, detail: "The image has changed since you read it." });
}
