import type { Call, Reply } from "../contracts/call.ts";
import type { EditView, ImageView, Pages } from "../contracts/pages.ts";
import type { ImageFormat } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { changeImage, type ImageChange, removeImage } from "./edit-image.ts";
import { findForRead, findImage, requireAlive } from "./find-image.ts";
import { ALL_FORMATS, formatOfOriginal } from "./formats.ts";
import type { ImageContext } from "./image-context.ts";
import { parseExpiry, parseName } from "./image-fields.ts";
import { baseUrl, editUrl, formatUrl, imageUrl, isServable } from "./image-links.ts";
import type { ImageRecord } from "./image-record.ts";
import type { CurrentRecord } from "./image-records.ts";
import { countRequest, requirePin } from "./limits.ts";
import { pageReply, prefersHtml } from "./page-reply.ts";
import { type Audience, permitEdit } from "./permissions.ts";
import { type Parameters, pinOf, readParameters } from "./read-body.ts";
import { readOriginal } from "./read-image.ts";

/** `GET HEAD {base}/<id>`: the viewer for those who prefer HTML, the original for all others. */
export async function landing(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { current, audience } = await findForRead(context, call, id);
  if (context.pages !== null && prefersHtml(call, current.record.type)) {
    return viewerReply(context, context.pages, call, current, { ...cachingOf(audience), Vary: "Accept" });
  }
  return readOriginal(context, call, current, formatOfOriginal(current.record.type), audience);
}

/** `GET HEAD {base}/<id>/view`: always the viewer. */
export async function viewer(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const { current, audience } = await findForRead(context, call, id);
  return viewerReply(context, requirePages(context), call, current, cachingOf(audience));
}

function cachingOf(audience: Audience): Record<string, string> {
  return { "Cache-Control": audience === "public" ? "no-cache" : "private, no-cache" };
}

function viewerReply(
  context: ImageContext,
  pages: Pages,
  call: Call,
  { record }: CurrentRecord,
  headers: Record<string, string>,
): Reply {
  const page = pages.viewer(viewOf(context, call, record), context.settings.now());
  return pageReply(call, page, 200, { ...headers, Sunset: new Date(record.expiresAt).toUTCString() });
}

/** `GET HEAD POST {base}/<id>/edit`: a form, and what it sends. A GET changes nothing. */
export async function editor(context: ImageContext, call: Call, id: string): Promise<Reply> {
  const pages = requirePages(context);
  await countRequest(context, call, "edits");
  const parameters = await readParameters(call, context.settings);
  const current = await findImage(context, call, id);
  const pin = await requireEditor(context, call, current.record, pinOf(call, parameters));
  // The host may have taken its time to decide.
  await requireAlive(context, current);
  const form = { context, pages, call, current, pin };
  if (call.method !== "POST") {
    return formReply(form, 200, noticeFor(current.record, parameters));
  }
  try {
    return await applyForm(context, call, current, parameters, form.pin);
  } catch (error) {
    if (!(error instanceof ServiceError) || !["bad_request", "conflict"].includes(error.code)) throw error;
    return formReply(form, error.code === "conflict" ? 409 : 400, {
      problem: error.message,
    });
  }
}

/**
 * The PIN with which the form is to be sent. Who may edit without one is shown the form with it, but cannot send the form
 * without: else any other page could have a browser send it.
 */
async function requireEditor(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  pin: unknown,
): Promise<string> {
  const mayWithout = await permitEdit(context, call, record);
  if (mayWithout && call.method !== "POST") return (await context.pins()).pinOf(record.id);
  await requirePin(context, call, record.id, pin);
  return String(pin);
}

function noticeFor(record: ImageRecord, parameters: Parameters): Pick<EditView, "notice"> {
  if (record.processing !== null) {
    return {
      notice: "This image is still being processed. It can be deleted now, and changed when that is done.",
    };
  }
  return parameters.get("done") === "update" ? { notice: "The changes were saved." } : {};
}

async function applyForm(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  parameters: Parameters,
  pin: string,
): Promise<Reply> {
  const { id } = current.record;
  const base = baseUrl(call, context.settings.publicUrl);
  switch (parameters.get("action")) {
    case "delete":
      if (!parameters.get("confirm"))
        throw new ServiceError("bad_request", "Tick the box to confirm the deletion");
      await removeImage(context, current);
      return seeOther(`${imageUrl(base, id)}/view`);
    case "update":
      await changeImage(context, current, changeOf(context, parameters));
      return seeOther(`${editUrl(base, id, pin)}&done=update`);
    default:
      throw new ServiceError("bad_request", "action must be update or delete");
  }
}

function changeOf({ settings }: ImageContext, parameters: Parameters): ImageChange {
  const change: ImageChange = {};
  const name = parseName(parameters.get("name"));
  if (name !== undefined) change.name = name;
  const now = settings.now();
  const expiresIn = parameters.get("expiresIn");
  const isGiven = expiresIn !== undefined && expiresIn !== "";
  if (isGiven && !(typeof expiresIn === "string" && /^\d{1,15}$/.test(expiresIn)))
    throw new ServiceError("bad_request", "expiresIn must be milliseconds from now, in digits");
  const wanted = isGiven ? String(now + Number(expiresIn)) : parameters.get("expiresAt");
  const expiresAt = parseExpiry(wanted, "form", now, settings);
  if (expiresAt !== undefined) change.expiresAt = expiresAt;
  return change;
}

interface EditForm {
  context: ImageContext;
  pages: Pages;
  call: Call;
  current: CurrentRecord;
  pin: string;
}

function formReply(form: EditForm, status: number, said: Pick<EditView, "notice" | "problem">): Reply {
  const { context, call, current } = form;
  const base = baseUrl(call, context.settings.publicUrl);
  const page = form.pages.edit(
    {
      image: viewOf(context, call, current.record),
      action: `${imageUrl(base, current.record.id)}/edit`,
      pin: form.pin,
      ...said,
    },
    context.settings.now(),
  );
  return pageReply(call, page, status, SECRET_PAGE_HEADERS);
}

/** The address of these pages holds the PIN: it must not stay in caches, nor go to others as a referrer. */
const SECRET_PAGE_HEADERS = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
};

function seeOther(location: string): Reply {
  return {
    status: 303,
    headers: {
      Location: location,
      "Content-Length": "0",
      ...SECRET_PAGE_HEADERS,
    },
  };
}

function viewOf(context: ImageContext, call: Call, record: ImageRecord): ImageView {
  const base = baseUrl(call, context.settings.publicUrl);
  const { id, name, type, size, width, height, pages, agent } = record;
  return {
    ...{ id, name, type, size, width, height, pages, agent },
    createdAt: new Date(record.createdAt).toISOString(),
    expiresAt: new Date(record.expiresAt).toISOString(),
    viewUrl: `${imageUrl(base, id)}/view`,
    links: Object.fromEntries(
      servableFormats(context, record).map((format) => [format, formatUrl(base, id, format)]),
    ),
  };
}

function servableFormats({ renderer }: ImageContext, record: ImageRecord): ImageFormat[] {
  if (record.processing !== null) return [];
  return ALL_FORMATS.filter((format) => isServable(renderer, record, format));
}

function requirePages({ pages }: ImageContext): Pages {
  if (pages === null) throw new ServiceError("not_implemented", "This service has no pages");
  return pages;
}
