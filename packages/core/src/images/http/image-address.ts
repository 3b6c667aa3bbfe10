import type { ImageFormat } from "../../contracts/renderer.ts";
import { formatOfSuffix } from "../record/formats.ts";
import { isImageId } from "../record/image-id.ts";

/** What an address below the mount point names. */
export type ImageAddress =
  | { kind: "collection"; suffix: "json" | "txt" }
  | { kind: "record"; id: string }
  | { kind: "bytes"; id: string; format: ImageFormat }
  | { kind: "landing"; id: string }
  | { kind: "viewer"; id: string }
  | { kind: "editor"; id: string }
  | { kind: "front" }
  | { kind: "asset"; name: string }
  | { kind: "reference" }
  | { kind: "description" }
  | { kind: "sharex" }
  /** Below `api/images`, which is ours, and nothing there. */
  | { kind: "nothing" }
  /** A resource of ours in a format that does not exist. */
  | { kind: "unknown_format"; suffix: string };

const API = "/api/images";
const COLLECTION_SUFFIX = /^\.([A-Za-z0-9]+)$/;
const PAGE = /^\/([^/]+)(\/view|\/edit)?$/;
const ASSET = /^\/assets\/([A-Za-z0-9_.-]{1,100})$/;

/** Addresses that are there once. */
const SINGLE: ReadonlyMap<string, ImageAddress> = new Map<string, ImageAddress>([
  ["/", { kind: "front" }],
  ["/api", { kind: "reference" }],
  ["/api/", { kind: "reference" }],
  ["/api/openapi.json", { kind: "description" }],
  ["/sharex.sxcu", { kind: "sharex" }],
]);

/** `undefined` for an address that is not ours. One trailing slash is tolerated on API paths. */
export function matchImageAddress(path: string): ImageAddress | undefined {
  if (path.startsWith(API))
    return matchApi(path.endsWith("/") ? path.slice(API.length, -1) : path.slice(API.length));
  const single = SINGLE.get(path);
  if (single !== undefined) return single;
  const [, asset] = ASSET.exec(path) ?? [];
  if (asset !== undefined) return { kind: "asset", name: asset };
  const [, id = "", page] = PAGE.exec(path) ?? [];
  if (!isImageId(id)) return undefined;
  if (page === undefined) return { kind: "landing", id };
  return { kind: page === "/view" ? "viewer" : "editor", id };
}

function matchApi(rest: string): ImageAddress | undefined {
  if (rest === "") return { kind: "nothing" };
  if (rest.startsWith(".")) {
    const suffix = COLLECTION_SUFFIX.exec(rest)?.[1];
    if (suffix === undefined) return { kind: "nothing" };
    return suffix === "json" || suffix === "txt"
      ? { kind: "collection", suffix }
      : { kind: "unknown_format", suffix };
  }
  // `/api/imagesque` is the host's.
  if (!rest.startsWith("/")) return undefined;
  const dot = rest.lastIndexOf(".");
  if (dot === -1) return { kind: "nothing" };
  const id = rest.slice(1, dot);
  if (!isImageId(id)) return { kind: "nothing" };
  const suffix = rest.slice(dot + 1);
  if (suffix === "json") return { kind: "record", id };
  const format = formatOfSuffix(suffix);
  return format === undefined ? { kind: "unknown_format", suffix } : { kind: "bytes", id, format };
}
