import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { thumbHashToRGBA } from "thumbhash";
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

/** 6 to 27 bytes in base64. */
const THUMB_HASH = /^(?=.{8,36}$)(?:[A-Za-z\d+/]{4})+(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** A thumbnail from this browser, or else from the server, with a blurred one until that is loaded. */
export function Thumbnail({ localUrl, image, label }: ThumbnailProps) {
  const [broken, setBroken] = useState<string | null>(null);
  const [loaded, setLoaded] = useState<string | null>(null);
  const url = localUrl ?? (image === null ? null : `${fileAddress(image, "webp")}?resize=192x192`);
  const look = image?.placeholder;
  return (
    <div class="thumbnail">
      {url === null || url === broken ? (
        <span aria-hidden="true">{label ?? "?"}</span>
      ) : (
        <>
          {look !== undefined && THUMB_HASH.test(look) && url !== loaded && <Look placeholder={look} />}
          <img
            src={url}
            alt=""
            loading="lazy"
            decoding="async"
            onLoad={() => setLoaded(url)}
            onError={() => setBroken(url)}
          />
        </>
      )}
    </div>
  );
}

/** A ThumbHash. The page's policy permits no `data:` addresses, so it is a canvas. */
function Look({ placeholder }: { placeholder: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const hash = Uint8Array.from(atob(placeholder), (character) => character.charCodeAt(0));
    const { w, h, rgba } = thumbHashToRGBA(hash);
    if (canvas.current === null || w * h === 0) return;
    Object.assign(canvas.current, { width: w, height: h });
    canvas.current.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(rgba), w, h), 0, 0);
  }, [placeholder]);
  return <canvas ref={canvas} />;
}
