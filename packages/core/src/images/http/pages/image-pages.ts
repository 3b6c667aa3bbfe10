import type { Call, Reply } from "../../../contracts/call.ts";
import type { EditView, Pages } from "../../../contracts/pages.ts";
import { type ErrorCode, isServiceError, ServiceError } from "../../../errors.ts";
import { HttpProblem, type Problem, problemOf } from "../../../http/problem.ts";
import { findImage, requireAlive } from "../../library/find-image.ts";
import { formatOfOriginal, formatOfSuffix } from "../../record/formats.ts";
import { imageUrl } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import type { CurrentRecord } from "../../record/image-records.ts";
import { normalisePin } from "../../record/pin.ts";
import {
  baseUrl,
  findForRead,
  type ImageContext,
  pinOf,
  placeOf,
  requestParameters,
  requirePin,
  requireUtf8Query,
} from "../image-context.ts";
import { cachingOf, sunsetHeader } from "../prepared-read.ts";
import { readDownload, readOriginal } from "../read-image.ts";
import { applyForm, noticeFor, SECRET_PAGE_HEADERS } from "./edit-form.ts";
import { readInput } from "./edit-input.ts";
import { imageView, pageShown } from "./image-view.ts";
import { pageReply, prefersHtml, requirePages, retryAfterSeconds } from "./problem-page.ts";

/** `GET HEAD {base}/<id>`: the viewer for clients that prefer HTML, the original for all others. */
export async function landing(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { current, audience } = await findForRead(context, call, id);
  if (context.pages !== null && prefersHtml(call, current.record.type)) {
    return viewerReply(context, context.pages, call, current, { ...cachingOf(audience), Vary: "Accept" });
  }
  return readOriginal(context, call, current, formatOfOriginal(current.record.type), audience);
}

/** `GET HEAD {base}/<id>/view`: the viewer, or the file that its form asks for. */
export async function viewer(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const viewing = await findForRead(context, call, id);
  requireUtf8Query(call.search);
  const query = new URLSearchParams(call.search);
  const [suffix = "", parameters = ""] = query.get("download")?.split("?", 2) ?? [];
  if (suffix === "") {
    return viewerReply(context, requirePages(context), call, viewing.current, cachingOf(viewing.audience));
  }
  const format = formatOfSuffix(suffix);
  if (format === undefined) {
    throw new ServiceError("bad_request", "download must begin with a format, such as png");
  }
  const resize = query.get("resize");
  const search = resize ? `${parameters}&resize=${encodeURIComponent(resize)}` : parameters;
  return readDownload(context, call, viewing, format, search);
}

/** `GET HEAD POST {base}/<id>/edit`: shows the form, and applies it on POST. A GET changes nothing. */
export async function editor(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const parameters = await requestParameters(call, context.settings);
  const current = await findImage(context.library, id, call.signal);
  const pages = requirePages(context);
  const unlocked = await unlock(context, pages, call, current.record, pinOf(call, parameters));
  if ("refused" in unlocked) return unlocked.refused;
  const { pin } = unlocked;
  // The host's decision may have taken long enough for the image to end.
  await requireAlive(context.library, current);
  const form = { context, pages, call, current, pin };
  if (call.method !== "POST") {
    return formReply(form, { status: 200 }, noticeFor(current.record, parameters.get("done")));
  }
  const typed = readInput(current.record, parameters);
  try {
    const result = await applyForm(context, call, current, parameters, pin);
    return "faults" in result ? formReply(form, { status: 400 }, { typed, faults: result.faults }) : result;
  } catch (error) {
    if (!isServiceError(error) || !KEEPING_FORM.includes(error.code)) throw error;
    const { detail, ...problem } = problemOf(error);
    return formReply(form, problem, { typed, problem: detail });
  }
}

/** Refusals after which the same form can be sent again. */
const KEEPING_FORM: readonly ErrorCode[] = [
  "bad_request",
  "conflict",
  "overloaded",
  "store_unavailable",
  "no_space",
];

function viewerReply(
  context: ImageContext,
  pages: Pages,
  call: Call,
  { record }: CurrentRecord,
  headers: Record<string, string>,
): Reply {
  const view = imageView(context, call, record, pageShown(baseUrl(context, call), call.search, record));
  const page = pages.viewer(view, context.settings.now());
  return pageReply(call, page, 200, { ...headers, ...sunsetHeader(record) });
}

/**
 * Like {@link requireEditor}. If the PIN is missing or wrong, a client that prefers HTML gets a page that asks for
 * it.
 */
async function unlock(
  context: ImageContext,
  pages: Pages,
  call: Call,
  record: ImageRecord,
  sent: unknown,
): Promise<{ pin: string } | { refused: Reply }> {
  try {
    return { pin: await requireEditor(context, call, record, sent) };
  } catch (error) {
    if (!prefersHtml(call, "application/problem+json")) throw error;
    const refused = refusalOf(error, sent);
    if (refused === null) throw error;
    const { status, headers, ...why } = refused;
    const address = imageUrl(baseUrl(context, call), record.id);
    const page = pages.unlock({
      ...placeOf(context, call),
      action: `${address}/edit`,
      viewUrl: `${address}/view`,
      ...why,
    });
    return { refused: pageReply(call, page, status, { ...headers, ...SECRET_PAGE_HEADERS }) };
  }
}

/** The page's text about a missing or wrong PIN. `null` for a rejection with another reason. */
function refusalOf(error: unknown, sent: unknown) {
  if (isServiceError(error, "forbidden")) {
    const isMissing = sent === undefined || sent === "";
    return { status: 403, headers: {}, ...(isMissing ? {} : { problem: "Incorrect PIN" }) };
  }
  if (!(error instanceof HttpProblem) || error.problem.status !== 429) return null;
  const { status, headers = {} } = error.problem;
  const wait = retryAfterSeconds(error.problem);
  const problem = `Too many incorrect PINs. Try again in ${wait} ${wait === 1 ? "second" : "seconds"}.`;
  return { status, headers, problem };
}

/**
 * The PIN for the form. A client that may edit without a PIN gets it with the form, but must send it back: otherwise
 * another site could make the browser send the form.
 */
async function requireEditor(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  pin: unknown,
): Promise<string> {
  const mayWithout = await context.permissions.permitEdit(call, record);
  if (mayWithout && call.method !== "POST") return context.library.pins.pinOf(record.id);
  await requirePin(context, call, record.id, pin);
  // Any other spelling would end up in a `Location`.
  return normalisePin(String(pin));
}

interface EditForm {
  context: ImageContext;
  pages: Pages;
  call: Call;
  current: CurrentRecord;
  pin: string;
}

function formReply(
  form: EditForm,
  { status, headers }: Omit<Problem, "detail">,
  said: Pick<EditView, "notice" | "problem" | "typed" | "faults">,
): Reply {
  const { context, call, current, pin } = form;
  const page = form.pages.edit(
    {
      image: imageView(context, call, current.record),
      action: `${imageUrl(baseUrl(context, call), current.record.id)}/edit`,
      pin,
      ...said,
    },
    context.settings.now(),
  );
  return pageReply(call, page, status, { ...headers, ...SECRET_PAGE_HEADERS });
}
