import type { Call, Reply } from "../../contracts/call.ts";
import type { Pages } from "../../contracts/pages.ts";
import { ServiceError } from "../../errors.ts";
import { DESCRIPTION_PATH } from "../../openapi/description.ts";
import { ALL_FORMATS } from "../record/formats.ts";
import { isImageId } from "../record/image-record.ts";
import { createImage } from "./create-image.ts";
import { createTicket } from "./create-ticket.ts";
import {
  createImageOperation,
  createTicketOperation,
  deleteImageOperation,
  getRecordOperation,
  patchImageOperation,
  readImageOperation,
} from "./description/declared-api.ts";
import * as declaredPages from "./description/declared-pages.ts";
import type { DescribedMethod, DescribedRoute } from "./description/image-path.ts";
import { deleteImage, getRecord, patchImage } from "./edit-image.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";
import { editor, landing, viewer } from "./pages/image-pages.ts";
import { assetReply, referencePage, sharexReply } from "./pages/site-pages.ts";
import { submitUpload, uploadPage } from "./pages/upload-form.ts";
import { readImage } from "./read-image.ts";

/** One method of a route. */
export interface RouteMethod extends DescribedMethod {
  /**
   * @param name Variable part of the path, such as the image ID; empty if the pattern has none.
   * @param limits Headers with the state of the rate limit.
   */
  handle(
    context: ImageContext,
    call: Call,
    name: string,
    limits: Record<string, string>,
  ): Reply | Promise<Reply>;
}

type Methods = Partial<Record<"GET" | "POST" | "PATCH" | "DELETE", RouteMethod>>;

/** One address of the service, or a family of addresses that differ in an ID or a name. */
export interface Route extends DescribedRoute {
  /** Name of the route for observers. @default the pattern */
  readonly observedAs?: string;
  /** Whether an image that is still processed replies with its record, even to clients that prefer HTML. */
  readonly isRecord?: true;
  /** Whether every reply depends on the `Accept` header, so that a cache must keep one per value. */
  readonly negotiates?: true;
  /** Whether a ticket in the query permits the request, to pages of all origins too, instead of `authorize`. */
  readonly takesTicket?: true;
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
          handle: (context, call, _name, limits) => createImage(context, call, suffix, limits),
          describe: (facts) => createImageOperation(facts, suffix),
        },
      },
    }),
  ),
  {
    pattern: "/api/tickets.json",
    form: "json",
    methods: { POST: { budget: "creates", handle: createTicket, describe: createTicketOperation } },
  },
  {
    pattern: "/api/images/{id}.json",
    form: "json",
    isRecord: true,
    methods: {
      GET: { budget: "reads", handle: getRecord, describe: getRecordOperation },
      PATCH: { budget: "edits", handle: patchImage, describe: patchImageOperation },
      DELETE: { budget: "edits", handle: deleteImage, describe: deleteImageOperation },
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
            describe: (facts) => readImageOperation(facts, format, suffix),
          },
        },
      }),
    ),
  ),
  {
    pattern: "/api/images/{id}.auto",
    form: "json",
    negotiates: true,
    methods: {
      GET: {
        budget: "reads",
        handle: (context, call, id) => readImage(context, call, id, "auto"),
        describe: (facts) => readImageOperation(facts, "auto"),
      },
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

/** An address below `/api/images` with an unknown format suffix. */
const UNKNOWN_FORMAT: Route = {
  pattern: "/api/images/*",
  form: "json",
  methods: { GET: { handle: refuseFormat }, POST: { handle: refuseFormat } },
};

/** Any other path below `/api/images`. The service owns them all. */
export const NOTHING: ServedRoute = {
  pattern: "/api/images/*",
  form: "json",
  methods: new Map(),
  allow: "GET, HEAD, OPTIONS",
  isImagePage: false,
};

/** A route as a service has it. */
export interface ServedRoute extends Omit<Route, "methods"> {
  /** By the method of a request. HEAD is that of GET. */
  readonly methods: ReadonlyMap<string, RouteMethod>;
  /** `Allow` (RFC 9110 §10.2.1). */
  readonly allow: string;
  /** Whether the path has the form of an image's page. The host may have such paths too. */
  readonly isImagePage: boolean;
}

/** A path and its route. */
export interface MatchedRoute {
  /** The name of the route for observers. */
  readonly route: string;
  readonly row: ServedRoute;
  /** The variable part of the path; empty if the pattern has none. */
  readonly name: string;
}

const API = "/api/images";
const ID_ROUTE = "/{id}";
const COLLECTION_SUFFIX = /^\.([A-Za-z0-9]+)$/;
const PAGE = /^\/([^/]+)(\/.*)?$/;
const ASSET = /^\/assets\/([A-Za-z0-9_.-]{1,100})$/;

/**
 * Creates the function that finds the route of a path, for a service with these pages. `undefined`: the path belongs to the host.
 * One trailing slash is tolerated on API paths.
 */
export function createRouter(pages: Pages | null): (path: string) => MatchedRoute | undefined {
  const rows = ROUTES.filter(({ needsPages }) => pages !== null || needsPages === undefined).map((route) =>
    servedRoute(route, pages),
  );
  const byPattern = new Map(rows.map((row) => [row.pattern, row]));
  const unknownFormat = servedRoute(UNKNOWN_FORMAT, pages);

  function matched(row: ServedRoute | undefined, name = ""): MatchedRoute | undefined {
    return row && { route: row.observedAs ?? row.pattern, row, name };
  }

  function matchApi(rest: string): MatchedRoute | undefined {
    if (rest.startsWith(".")) {
      const collection = byPattern.get(API + rest);
      if (collection !== undefined) return matched(collection);
      const suffix = COLLECTION_SUFFIX.exec(rest)?.[1];
      return suffix === undefined ? matched(NOTHING) : matched(unknownFormat, suffix);
    }
    // `/api/imagesque` belongs to the host.
    if (rest !== "" && !rest.startsWith("/")) return undefined;
    const dot = rest.lastIndexOf(".");
    const id = dot === -1 ? "" : rest.slice(1, dot);
    if (!isImageId(id)) return matched(NOTHING);
    const suffix = rest.slice(dot + 1);
    const row = byPattern.get(`${API}/{id}.${suffix}`);
    return row === undefined ? matched(unknownFormat, suffix) : matched(row, id);
  }

  return (path) => {
    if (path.startsWith(API)) {
      return matchApi(path.endsWith("/") ? path.slice(API.length, -1) : path.slice(API.length));
    }
    if (!path.includes("{")) {
      const single = byPattern.get(path.startsWith("/api/") && path.endsWith("/") ? path.slice(0, -1) : path);
      if (single !== undefined) return matched(single);
    }
    const [, asset] = ASSET.exec(path) ?? [];
    if (asset !== undefined) {
      return pages?.asset(asset) && matched(byPattern.get("/assets/{name}"), asset);
    }
    const [, id = "", page = ""] = PAGE.exec(path) ?? [];
    return isImageId(id) ? matched(byPattern.get(ID_ROUTE + page), id) : undefined;
  };
}

function servedRoute(route: Route, pages: Pages | null): ServedRoute {
  const methods = new Map<string, RouteMethod>();
  for (const [name, method] of Object.entries(route.methods)) {
    if (method.isUploadForm && pages?.created === undefined) continue;
    methods.set(name, method);
    if (name === "GET") methods.set("HEAD", method);
  }
  const allow = [...methods.keys(), "OPTIONS"].join(", ");
  return { ...route, methods, allow, isImagePage: route.pattern.startsWith(ID_ROUTE) };
}

function refuseFormat(_context: ImageContext, _call: Call, suffix: string): never {
  throw new ServiceError("unsupported_media", `Nothing is served as .${suffix}`);
}
