import type { Call, Reply, Upload } from "../../../contracts/call.ts";
import type { UploadInput, UploadView } from "../../../contracts/pages.ts";
import { type ErrorCode, isServiceError, ServiceError } from "../../../errors.ts";
import { type Problem, problemOf } from "../../../http/problem.ts";
import { retryAfterMs } from "../../library/find-image.ts";
import { CONVERTIBLE, FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { NEVER } from "../../record/image-fields.ts";
import { editUrl, imageUrl } from "../../record/image-links.ts";
import { readinessOf } from "../../record/image-state.ts";
import { receiveAndStore } from "../create-image.ts";
import { baseUrl, type ImageContext, placeOf } from "../image-context.ts";
import { FILE_FIELD, receiveForm } from "../receive-image.ts";
import { SECRET_PAGE_HEADERS } from "./edit-form.ts";
import { imageView } from "./image-view.ts";
import { pageReply, prefersHtml, requirePages, retryAfterSeconds } from "./problem-page.ts";

/** Under another policy, such as that of the host app, older browsers would send the form with the origin `null`. */
export const FORM_HEADERS = { "Referrer-Policy": "same-origin" };

/** `GET HEAD {base}/`: the upload page. */
export async function uploadPage(context: ImageContext, call: Call): Promise<Reply> {
  const { areAsked } = context.permissions;
  const view = uploadView(context, call, await takesForm(context, call));
  // Where the host decides, the form is this client's alone.
  const caching = areAsked ? "private, no-cache" : "no-cache";
  return pageReply(call, requirePages(context).upload(view, context.settings.now()), 200, {
    "Cache-Control": caching,
    ...FORM_HEADERS,
  });
}

/** `POST {base}/`: the form of the upload page. Browsers send it only without JavaScript. */
export async function submitUpload(context: ImageContext, call: Call): Promise<Reply> {
  const pages = requirePages(context);
  const { now } = context.settings;
  const sent: { typed?: UploadInput } = {};
  try {
    const adapt = ({ file, fields }: Upload) => {
      const { name = "", description = "", expiresIn = "" } = fields;
      sent.typed = { name, description, expiresIn };
      return { file: { ...file, declaredType: trustedType(file) }, fields: apiFieldsOf(sent.typed, now()) };
    };
    const { record } = await receiveAndStore(
      context,
      call,
      (...request) => receiveForm(...request, adapt),
      async () => ({ ticket: null, grant: await context.permissions.permitCreate(call) }),
    );
    const base = baseUrl(context, call);
    const pin = context.library.pins.pinOf(record.id);
    const image = imageView(context, call, record);
    const page = pages.created?.({ image, editUrl: editUrl(base, record.id, pin), pin });
    if (page === undefined) throw new ServiceError("not_implemented", "These pages have no upload form");
    const headers = { ...SECRET_PAGE_HEADERS, Location: imageUrl(base, record.id) };
    if (readinessOf(record) === "ready") return pageReply(call, page, 201, headers);
    const wait = String(retryAfterMs(record, now()) / 1000);
    return pageReply(call, page, 202, { ...headers, "Retry-After": wait });
  } catch (error) {
    const isByInput = isServiceError(error) && BY_INPUT.includes(error.code);
    if (!isByInput || !prefersHtml(call, "application/problem+json")) throw error;
    return refusedUpload(context, call, problemOf(error), sent.typed);
  }
}

/** Refusals that other input may avoid. The page keeps what was typed. */
const BY_INPUT: readonly ErrorCode[] = ["bad_request", "too_large", "unsupported_media", "too_costly"];

/** The upload page with the reason why the form was refused. */
export function refusedUpload(
  context: ImageContext,
  call: Call,
  problem: Problem,
  typed?: UploadInput,
): Reply {
  const { status, detail, headers } = problem;
  const wait = retryAfterSeconds(problem);
  const view: UploadView = {
    ...uploadView(context, call, status !== 403, typed),
    refusal: { status, detail, ...(wait === null ? {} : { retryAfterSeconds: wait }) },
  };
  const page = requirePages(context).upload(view, context.settings.now());
  return pageReply(call, page, status, { "Cache-Control": "no-store", ...FORM_HEADERS, ...headers });
}

function uploadView(context: ImageContext, call: Call, hasForm: boolean, typed?: UploadInput): UploadView {
  const { convertUploads, maxUploadBytes, maxLifetimeMs, sizes } = context.settings;
  const base = baseUrl(context, call);
  const form = { action: `${base}/`, fileField: FILE_FIELD, ...(typed === undefined ? {} : { typed }) };
  return {
    ...placeOf(context, call),
    types: [...ORIGINAL_TYPES, ...convertUploads.map((name) => CONVERTIBLE[name][0])],
    maxUploadBytes,
    defaultLifetimeMs: context.settings.httpLifetimeMs,
    maxLifetimeMs,
    sizes: sizes.needsSignature ? "signed" : (sizes.steps ?? "any"),
    resumable: context.resumable !== null,
    ...(hasForm ? { form } : {}),
  };
}

/** Whether this client may send the form. A host that reads a key from a header refuses every form. */
async function takesForm(context: ImageContext, call: Call): Promise<boolean> {
  const { pages, permissions, settings } = context;
  if (pages?.created === undefined) return false;
  try {
    await permissions.permitCreate(call);
    return true;
  } catch (error) {
    // The page itself is for everyone; its script shows the reason on an upload.
    if (!isServiceError(error) || error.code === "host_misuse") settings.onError(error, call);
    return false;
  }
}

/** Browsers guess types by file names, so the bytes decide, except about SVG, which may be compressed. */
function trustedType({ declaredType }: Upload["file"]): string {
  return declaredType === FORMATS.svg.type ? declaredType : "";
}

function apiFieldsOf({ expiresIn, ...others }: UploadInput, nowMs: number): Upload["fields"] {
  const isDuration = expiresIn !== "" && expiresIn !== NEVER;
  return { ...others, expiresAt: isDuration ? String(nowMs + Number(expiresIn)) : expiresIn };
}
