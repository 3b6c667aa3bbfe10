import { type PagePlace, reachableBase } from "../saved/saved-list.ts";

/** Settings of the server, from `data-` attributes of the page. */
export interface UploadConfig {
  /** Absolute URL of the mount point, on the page's own origin, without a trailing slash. */
  baseUrl: string;
  maxUploadBytes: number;
  /** Media types that the service accepts. */
  types: readonly string[];
  /** Lifetime of an image when none is requested, milliseconds. `Infinity`: no end; likewise `maxLifetimeMs`. */
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
  /** Whether the service takes resumable uploads. */
  isResumable: boolean;
}

/** Reads the attributes that `src/upload.ts` writes. */
export function readConfig(data: DOMStringMap, place: PagePlace): UploadConfig {
  return {
    baseUrl: reachableBase(data.base ?? "", place),
    maxUploadBytes: Number(data.maxUploadBytes),
    types: (data.types ?? "").split(" "),
    defaultLifetimeMs: Number(data.defaultLifetimeMs),
    maxLifetimeMs: Number(data.maxLifetimeMs),
    isResumable: data.resumable !== undefined,
  };
}
