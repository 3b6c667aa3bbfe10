import type { Call, Reply } from "../../contracts/call.ts";
import { DESCRIPTION_PATH } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import { type AddressFormat, ALL_FORMATS } from "../record/formats.ts";
import { createImage } from "./create-image.ts";
import { createTicket, readTerms } from "./create-ticket.ts";
import * as declaredApi from "./description/declared-api.ts";
import * as declaredOwned from "./description/declared-owned.ts";
import * as declaredPages from "./description/declared-pages.ts";
import * as declaredReports from "./description/declared-reports.ts";
import * as declaredUploads from "./description/declared-uploads.ts";
import type { DescribedMethod, DescribedRoute } from "./description/image-path.ts";
import { deleteImage, getRecord, patchImage } from "./edit-image.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";
import { deleteOwned, listOwned } from "./owned-images.ts";
import { editor, landing, viewer } from "./pages/image-pages.ts";
import { embedding } from "./pages/oembed.ts";
import { assetReply, sharexReply } from "./pages/site-pages.ts";
import { submitUpload, uploadPage } from "./pages/upload-form.ts";
import { readImage } from "./read-image.ts";
import { createReport, openReportForm, sendReportForm } from "./report-image.ts";
import { beginUpload, endUpload, readUpload, sendPiece } from "./resume-upload.ts";
import { tusHeaders } from "./tus-headers.ts";

/** One method of a route. */
export interface RouteMethod extends DescribedMethod {
  /**
   * Whether this is the upload form: only pages with `created` have it, browsers may send it only from the service's own
   * pages, and refusals are the form again.
   */
  isUploadForm?: true;
  /** Whether this files a report, which browsers may send only from the service's own pages and permitted origins. */
  isReport?: true;
  /** @param name Variable part of the path, such as the image ID; empty if the pattern has none. */
  handle(context: ImageContext, call: Call, name: string): Reply | Promise<Reply>;
}

type Methods = Partial<Record<"GET" | "HEAD" | "POST" | "PATCH" | "DELETE", RouteMethod>>;

/** One address of the service, or a family of addresses that differ in an ID or a name. */
export interface Route extends DescribedRoute {
  /** Name of the route for observers. @default the pattern */
  readonly observedAs?: string;
  /** Whether an image that is still processed replies with its record, even to clients that prefer HTML. */
  readonly isRecord?: true;
  /** Methods that a ticket in the query permits, to pages of all origins too, instead of `authorize`. */
  readonly takesTicket?: readonly string[];
  /** Headers of every reply. */
  headers?(settings: ImageSettings): Record<string, string>;
  readonly methods: Methods;
}

/** A method whose requests count against a rate limit. */
function counted(budget: NonNullable<RouteMethod["budget"]>) {
  return (handle: RouteMethod["handle"], describe?: RouteMethod["describe"]): RouteMethod => {
    return { budget, handle, ...(describe && { describe }) };
  };
}
const [creates, reads, edits] = [counted("creates"), counted("reads"), counted("edits")];
const reports = (...method: Parameters<typeof reads>) => ({
  ...counted("reports")(...method),
  isReport: true as const,
});

const WITH_TICKET = { takesTicket: ["POST", "HEAD", "PATCH", "DELETE", "OPTIONS"] } as const;
const RESUMABLE = { ...WITH_TICKET, needsResumable: true, headers: tusHeaders } as const;
const PAGES = { needsPages: true } as const;

/** Every address of the service, in the order of the description. */
export const ROUTES: readonly Route[] = [
  ...(["json", "txt"] as const).map((suffix) => {
    const create = creates(
      (context, call) => createImage(context, call, suffix),
      (facts) => declaredApi.createImageOperation(facts, suffix),
    );
    const form = suffix === "txt" ? "text" : "json";
    return route(form, `/api/images.${suffix}`, { POST: create }, WITH_TICKET);
  }),
  route(
    "json",
    "/api/tickets.json",
    {
      GET: reads(readTerms, declaredApi.ticketTermsOperation),
      POST: creates(createTicket, declaredApi.createTicketOperation),
    },
    { takesTicket: ["GET", "HEAD", "OPTIONS"] },
  ),
  route("json", "/api/owned.json", {
    GET: reads(listOwned, declaredOwned.listOwnedOperation),
    DELETE: edits(deleteOwned, declaredOwned.deleteOwnedOperation),
  }),
  route(
    "json",
    "/api/images/{id}.json",
    {
      GET: reads(getRecord, declaredApi.getRecordOperation),
      PATCH: edits(patchImage, declaredApi.patchImageOperation),
      DELETE: edits(deleteImage, declaredApi.deleteImageOperation),
    },
    { isRecord: true },
  ),
  ...ALL_FORMATS.flatMap((format) =>
    (format === "jpg" ? ["jpg", "jpeg"] : [format]).map((suffix) =>
      readRoute(format, suffix, { observedAs: `/api/images/{id}.${format}` }),
    ),
  ),
  readRoute("auto", "auto", { headers: () => ({ Vary: "Accept" }) }),
  route(
    "json",
    "/api/uploads",
    { POST: creates(beginUpload, declaredUploads.beginUploadOperation) },
    RESUMABLE,
  ),
  route(
    "json",
    "/api/uploads/{upload}",
    {
      HEAD: reads(readUpload, declaredUploads.readUploadOperation),
      PATCH: reads(sendPiece, declaredUploads.sendPieceOperation),
      DELETE: reads(endUpload, declaredUploads.endUploadOperation),
    },
    RESUMABLE,
  ),
  route("json", "/api/oembed.json", { GET: reads(embedding, declaredPages.embeddingOperation) }, PAGES),
  route("page", "/{id}", { GET: reads(landing, declaredPages.landingOperation) }),
  route("page", "/{id}/view", { GET: reads(viewer) }),
  route("page", "/{id}/edit", {
    GET: edits(editor),
    POST: edits(editor),
  }),
  route(
    "page",
    "/{id}/report",
    {
      GET: reads(openReportForm),
      POST: reports(sendReportForm),
    },
    { needsReports: "page" },
  ),
  route(
    "json",
    "/api/reports.json",
    { POST: reports(createReport, declaredReports.createReportOperation) },
    { needsReports: "api" },
  ),
  route(
    "page",
    "/",
    {
      GET: { handle: uploadPage },
      POST: { ...creates(submitUpload), isUploadForm: true },
    },
    PAGES,
  ),
  route("json", "/assets/{name}", { GET: { handle: assetReply } }, PAGES),
  route("json", "/sharex.sxcu", { GET: { handle: sharexReply, describe: declaredPages.sharexOperation } }),
  // The document describes itself, for all services that it covers.
  route("json", DESCRIPTION_PATH, {
    GET: { handle: (context, call) => context.description.reply(call, baseUrl(context, call)) },
  }),
];

function route(
  form: Route["form"],
  pattern: string,
  methods: Methods,
  more: Partial<Omit<Route, "form" | "pattern" | "methods">> = {},
): Route {
  return { pattern, form, ...more, methods };
}

function readRoute(format: AddressFormat, suffix: string, more: Parameters<typeof route>[3]): Route {
  const read = reads(
    (context, call, id) => readImage(context, call, id, format),
    (facts) => declaredApi.readImageOperation(facts, format, suffix),
  );
  return route("json", `/api/images/{id}.${suffix}`, { GET: read }, more);
}
