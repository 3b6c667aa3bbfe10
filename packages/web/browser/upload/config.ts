/** Settings of the server, from `data-` attributes of the page. */
export interface UploadConfig {
  /** Absolute URL of the mount point, on the page's own origin, without a trailing slash. */
  baseUrl: string;
  maxUploadBytes: number;
  /** Lifetime of an image when none is requested, milliseconds. */
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** The location of the page. */
export type PagePlace = Pick<Location, "origin" | "pathname">;

/** Reads the attributes that `src/upload.ts` writes. */
export function readConfig(data: DOMStringMap, place: PagePlace): UploadConfig {
  return {
    baseUrl: reachableBase(data.base ?? "", place),
    maxUploadBytes: Number(data.maxUploadBytes),
    defaultLifetimeMs: Number(data.defaultLifetimeMs),
    maxLifetimeMs: Number(data.maxLifetimeMs),
  };
}

/**
 * The mount point as this page can reach it. If the host was reached under another name, the page must use that name
 * too.
 */
function reachableBase(base: string, { origin, pathname }: PagePlace): string {
  const isHere = URL.canParse(base) && new URL(base).origin === origin;
  return (isHere ? base : origin + pathname).replace(/\/+$/, "");
}
