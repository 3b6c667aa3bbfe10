import { useState } from "preact/hooks";
import type { SavedImage } from "../../saved/saved-image.ts";
import { fileAddress } from "../share-texts.ts";

export interface ThumbnailProps {
  /** Object URL of a picture in this browser. */
  localUrl: string | null;
  /** The stored image, if the server can render a thumbnail. */
  image: SavedImage | null;
  /** Shown when there is no picture. */
  label: string | null;
}

/** A thumbnail from this browser, or else from the server. */
export function Thumbnail({ localUrl, image, label }: ThumbnailProps) {
  const [broken, setBroken] = useState<string | null>(null);
  const url = localUrl ?? (image === null ? null : `${fileAddress(image, "webp")}?resize=192x192`);
  return (
    <div class="thumbnail">
      {url === null || url === broken ? (
        <span aria-hidden="true">{label ?? "?"}</span>
      ) : (
        <img src={url} alt="" loading="lazy" decoding="async" onError={() => setBroken(url)} />
      )}
    </div>
  );
}
