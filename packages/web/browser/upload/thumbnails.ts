const SIDE = 192;

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
  const picture = await createImageBitmap(file);
  const scale = Math.max(SIDE / picture.width, SIDE / picture.height);
  if (scale >= 1) {
    picture.close();
    return file;
  }
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext("2d");
  if (context !== null) context.imageSmoothingQuality = "high";
  context?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? file)));
}
