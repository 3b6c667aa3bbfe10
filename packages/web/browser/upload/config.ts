/** What the server says of itself, in `data-` attributes of the page. */
export interface UploadConfig {
  /** Absolute URL of the mount point, on the page's own origin, without a trailing slash. */
  baseUrl: string;
  maxUploadBytes: number;
  /** Life of an image for which none is asked, milliseconds. */
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** Where the page was found. */
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

/** Under another name of the host than the server knows, its API is only there for this page under that same name. */
function reachableBase(base: string, { origin, pathname }: PagePlace): string {
  const isHere = URL.canParse(base) && new URL(base).origin === origin;
  return (isHere ? base : origin + pathname).replace(/\/+$/, "");
}
