/** The origin of the page, and the path of the mount point on it. */
export type PagePlace = Pick<Location, "origin" | "pathname">;

/**
 * The mount point as this page can reach it, without a trailing slash. If the host was reached under another name, the
 * page must use that name too.
 */
export function reachableBase(base: string, { origin, pathname }: PagePlace): string {
  const isHere = URL.canParse(base) && new URL(base).origin === origin;
  return (isHere ? base : origin + pathname).replace(/\/+$/, "");
}
