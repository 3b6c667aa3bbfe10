import type { Call } from "../../contracts/call.ts";
import type { Pages } from "../../contracts/pages.ts";
import { ServiceError } from "../../errors.ts";
import { isImageId } from "../record/image-record.ts";
import type { ImageContext } from "./image-context.ts";
import { ROUTES, type Route, type RouteMethod } from "./routes.ts";

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
};

/** The form to report an image, where the service has none. */
const NO_REPORTS: ServedRoute = { ...NOTHING, pattern: "/{id}/report", form: "page" };

/** A route as a service has it. */
export interface ServedRoute extends Omit<Route, "methods"> {
  /** By the method of a request. HEAD is that of GET. */
  readonly methods: ReadonlyMap<string, RouteMethod>;
  /** `Allow` (RFC 9110 §10.2.1). */
  readonly allow: string;
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
const UPLOAD = /^\/api\/uploads(?:\/(.*?))?\/?$/;
/** The image URL: the only address of an image that the host may have too. */
export const ID_ROUTE = "/{id}";
const COLLECTION_SUFFIX = /^\.([A-Za-z0-9]+)$/;
/** A page keeps its address when a character of the ID was lost or added. No image has such an ID. */
const PAGE = /^\/([\w-]{20,24})(\/(?:view|edit|report))$/;
const ASSET = /^\/assets\/([A-Za-z0-9_.-]{1,100})$/;

/**
 * Creates the function that finds the route of a path, for a service with these pages. `undefined`: the path belongs to the host.
 * One trailing slash is tolerated on API paths.
 */
export function createRouter(
  pages: Pages | null,
  isResumable = false,
  hasReports = false,
): (path: string) => MatchedRoute | undefined {
  const isServed = ({ needsPages, needsResumable, needsReports }: Route) =>
    (pages !== null || needsPages === undefined) &&
    (isResumable || needsResumable === undefined) &&
    (needsReports === undefined || (hasReports && (needsReports === "api" || pages?.report !== undefined)));
  const rows = ROUTES.filter(isServed).map((route) => servedRoute(route, pages));
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
    const [isUpload, id = ""] = UPLOAD.exec(path) ?? [];
    if (isUpload !== undefined) {
      const row = byPattern.get(id === "" ? "/api/uploads" : "/api/uploads/{upload}");
      return row && (id === "" || isImageId(id) ? matched(row, id) : matched(NOTHING));
    }
    if (!path.includes("{")) {
      const single = byPattern.get(path.startsWith("/api/") && path.endsWith("/") ? path.slice(0, -1) : path);
      if (single !== undefined) return matched(single);
    }
    const [, asset] = ASSET.exec(path) ?? [];
    if (asset !== undefined) {
      return pages?.asset(asset) && matched(byPattern.get("/assets/{name}"), asset);
    }
    const [, imageId = path.slice(1), page = ""] = PAGE.exec(path) ?? [];
    if (page === "" && !isImageId(imageId)) return undefined;
    return matched(byPattern.get(ID_ROUTE + page) ?? NO_REPORTS, imageId);
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
  return { ...route, methods, allow };
}

function refuseFormat(_context: ImageContext, _call: Call, suffix: string): never {
  throw new ServiceError("unsupported_media", `Nothing is served as .${suffix}`);
}
