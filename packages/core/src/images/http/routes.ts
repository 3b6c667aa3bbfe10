import type { Call, Reply } from "../../contracts/call.ts";
import { DESCRIPTION_PATH } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import { ALL_FORMATS } from "../record/formats.ts";
import { createImage } from "./create-image.ts";
import { createTicket } from "./create-ticket.ts";
import * as declaredApi from "./description/declared-api.ts";
import * as declaredPages from "./description/declared-pages.ts";
import * as declaredUploads from "./description/declared-uploads.ts";
import type { DescribedMethod, DescribedRoute } from "./description/image-path.ts";
import { deleteImage, getRecord, patchImage } from "./edit-image.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";
import { editor, landing, viewer } from "./pages/image-pages.ts";
import { assetReply, referencePage, sharexReply } from "./pages/site-pages.ts";
import { submitUpload, uploadPage } from "./pages/upload-form.ts";
import { readImage } from "./read-image.ts";
import { beginUpload, endUpload, readUpload, sendPiece } from "./resume-upload.ts";
import { tusHeaders } from "./tus-headers.ts";

/** One method of a route. */
export interface RouteMethod extends DescribedMethod {
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
  /** Whether a ticket in the query permits the request, to pages of all origins too, instead of `authorize`. */
  readonly takesTicket?: true;
  /** Headers of every reply. */
  headers?(settings: ImageSettings): Record<string, string>;
  readonly methods: Methods;
}

/** Every address of the service, in the order of the description. */
export const ROUTES: readonly Route[] = [
  ...(["json", "txt"] as const).map(
    (suffix): Route => ({
      pattern: `/api/images.${suffix}`,
      form: suffix === "txt" ? "text" : "json",
      takesTicket: true,
      methods: {
        POST: {
          budget: "creates",
          handle: (context, call) => createImage(context, call, suffix),
          describe: (facts) => declaredApi.createImageOperation(facts, suffix),
        },
      },
    }),
  ),
  {
    pattern: "/api/tickets.json",
    form: "json",
    methods: {
      POST: { budget: "creates", handle: createTicket, describe: declaredApi.createTicketOperation },
    },
  },
  {
    pattern: "/api/images/{id}.json",
    form: "json",
    isRecord: true,
    methods: {
      GET: { budget: "reads", handle: getRecord, describe: declaredApi.getRecordOperation },
      PATCH: { budget: "edits", handle: patchImage, describe: declaredApi.patchImageOperation },
      DELETE: { budget: "edits", handle: deleteImage, describe: declaredApi.deleteImageOperation },
    },
  },
  ...ALL_FORMATS.flatMap((format) =>
    (format === "jpg" ? ["jpg", "jpeg"] : [format]).map(
      (suffix): Route => ({
        pattern: `/api/images/{id}.${suffix}`,
        observedAs: `/api/images/{id}.${format}`,
        form: "json",
        methods: {
          GET: {
            budget: "reads",
            handle: (context, call, id) => readImage(context, call, id, format),
            describe: (facts) => declaredApi.readImageOperation(facts, format, suffix),
          },
        },
      }),
    ),
  ),
  {
    pattern: "/api/images/{id}.auto",
    form: "json",
    headers: () => ({ Vary: "Accept" }),
    methods: {
      GET: {
        budget: "reads",
        handle: (context, call, id) => readImage(context, call, id, "auto"),
        describe: (facts) => declaredApi.readImageOperation(facts, "auto"),
      },
    },
  },
  {
    pattern: "/api/uploads",
    form: "json",
    needsResumable: true,
    takesTicket: true,
    headers: tusHeaders,
    methods: {
      POST: { budget: "creates", handle: beginUpload, describe: declaredUploads.beginUploadOperation },
    },
  },
  {
    pattern: "/api/uploads/{upload}",
    form: "json",
    needsResumable: true,
    takesTicket: true,
    headers: tusHeaders,
    methods: {
      HEAD: { budget: "reads", handle: readUpload, describe: declaredUploads.readUploadOperation },
      PATCH: { budget: "reads", handle: sendPiece, describe: declaredUploads.sendPieceOperation },
      DELETE: { budget: "reads", handle: endUpload, describe: declaredUploads.endUploadOperation },
    },
  },
  {
    pattern: "/{id}",
    form: "page",
    methods: { GET: { budget: "reads", handle: landing, describe: declaredPages.landingOperation } },
  },
  {
    pattern: "/{id}/view",
    form: "page",
    methods: { GET: { budget: "reads", handle: viewer, describe: declaredPages.viewerOperation } },
  },
  {
    pattern: "/{id}/edit",
    form: "page",
    methods: {
      GET: { budget: "edits", handle: editor, describe: declaredPages.editorOperation },
      POST: { budget: "edits", handle: editor, describe: declaredPages.editFormOperation },
    },
  },
  {
    pattern: "/",
    form: "page",
    needsPages: true,
    methods: {
      GET: { handle: uploadPage, describe: declaredPages.uploadPageOperation },
      POST: {
        budget: "creates",
        isUploadForm: true,
        handle: submitUpload,
        describe: declaredPages.uploadFormOperation,
      },
    },
  },
  {
    pattern: "/api",
    form: "page",
    needsPages: true,
    methods: { GET: { handle: referencePage, describe: declaredPages.referenceOperation } },
  },
  {
    pattern: "/assets/{name}",
    form: "json",
    needsPages: true,
    // Not described: files that pages load are no part of the API, and their path is ambiguous beside `/{id}/view`.
    methods: { GET: { handle: assetReply } },
  },
  {
    pattern: "/sharex.sxcu",
    form: "json",
    methods: { GET: { handle: sharexReply, describe: declaredPages.sharexOperation } },
  },
  {
    pattern: DESCRIPTION_PATH,
    form: "json",
    // The document describes itself, for all services that it covers.
    methods: {
      GET: { handle: (context, call) => context.description.reply(call, baseUrl(context, call)) },
    },
  },
];
