import { useState } from "preact/hooks";
import { fileAddress, pageAddress } from "../share-texts.ts";
import { servedImage, type Upload } from "../store/uploads.ts";

/** A thumbnail from this browser, or else from the server. It opens the page of a served image. */
export function Thumbnail({ upload }: { upload: Upload }) {
  const [broken, setBroken] = useState<string | null>(null);
  const image = servedImage(upload);
  const url = upload.previewUrl ?? (image === null ? null : `${fileAddress(image, "webp")}?resize=192x192`);
  const picture =
    url === null || url === broken ? (
      <span aria-hidden="true">{upload.label ?? "?"}</span>
    ) : (
      <img src={url} alt="" loading="lazy" decoding="async" onError={() => setBroken(url)} />
    );
  if (image === null) return <div class="thumbnail">{picture}</div>;
  return (
    <a class="thumbnail" href={pageAddress(image)} aria-label={`Open ${upload.name}`}>
      {picture}
    </a>
  );
}
