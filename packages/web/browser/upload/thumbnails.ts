const SIDE = 192;
const SMALL_BYTES = 100_000;

let last: Promise<void> = Promise.resolve();

/**
 * Makes a thumbnail of a file; of several, one after another, because decoded photos are large. `onMade` receives an object URL
 * that is valid while the page is open. It is not called for a file that the browser cannot show.
 */
export function makeThumbnail(file: File, onMade: (url: string) => void): void {
  last = last
    .then(() => thumbnailOf(file))
    .then((picture) => onMade(URL.createObjectURL(picture)))
    // The browser cannot decode the file; the server decides about it.
    .catch(() => undefined);
}

async function thumbnailOf(file: File): Promise<Blob> {
  // An SVG has no pixels to reduce.
  if (file.type === "image/svg+xml") return file;
  // Scaled at once, so that the page never holds all pixels of a big photo. The width follows.
  const picture = await createImageBitmap(file, { resizeHeight: SIDE, resizeQuality: "high" });
  // A small file is shown itself, now that it is known to be a picture.
  if (file.size <= SMALL_BYTES) return file;
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(picture);
  return canvas.convertToBlob();
}
