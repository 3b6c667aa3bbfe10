import { type PagePlace, reachableBase } from "../saved/reachable-base.ts";
import type { SavedImage } from "../saved/saved-image.ts";
import { readSavedList, savedListKey } from "../saved/saved-list.ts";

/** The shown image, whose PIN this browser has. */
export interface OwnImage {
  /** As saved in this browser. */
  image: SavedImage;
  /** Key of the list that has the image. */
  listKey: string;
  /** URL of the mount point on the page's own origin. */
  baseUrl: string;
  /** ISO 8601, as the page has it. `null`: never. */
  expiresAt: string | null;
  /** Longest lifetime from now, milliseconds; `Infinity`: no limit. */
  maxLifetimeMs: number;
}

/**
 * Adds the bar of the uploader to the page, if this browser has the PIN of the shown image.
 *
 * @param reload loads and shows the page anew, which calls this again; resolves with whether that succeeded
 */
export async function addOwnBar(reload: () => Promise<boolean>): Promise<void> {
  const heading = document.querySelector<HTMLElement>("main h1[data-id]");
  const own = heading === null ? null : findOwn(heading.dataset, location);
  if (heading === null || own === null) return;
  try {
    const { showOwnBar } = await import("./own-bar.ts");
    if (heading.isConnected) showOwnBar(heading, own, reload);
  } catch {
    // Without a network the page stays as the server made it.
  }
}

function findOwn(data: DOMStringMap, { origin, pathname }: PagePlace): OwnImage | null {
  const mount = pathname.slice(0, Math.max(0, pathname.lastIndexOf(`/${data.id}`)));
  const baseUrl = reachableBase(data.base ?? "", { origin, pathname: mount });
  const listKey = savedListKey(baseUrl);
  const image = readSavedList(listKey).find(({ id }) => id === data.id);
  if (image === undefined) return null;
  return {
    ...{ image, listKey, baseUrl },
    expiresAt: data.expiresAt ?? null,
    maxLifetimeMs: Number(data.maxLifetimeMs),
  };
}
