const SIDE = 192;

/** Small pictures of files, made one after another: decoded photos are large. */
export interface Thumbnails {
  /** `onMade` gets an address of the picture, for as long as the page is open; nothing for what cannot be shown. */
  make(file: File, onMade: (url: string) => void): void;
}

export function createThumbnails(): Thumbnails {
  let last: Promise<void> = Promise.resolve();
  return {
    make(file, onMade) {
      last = last
        .then(() => thumbnailOf(file))
        .then((picture) => onMade(URL.createObjectURL(picture)))
        // A file that no browser reads as a picture: the server will say what it thinks of it.
        .catch(() => undefined);
    },
  };
}

async function thumbnailOf(file: File): Promise<Blob> {
  // It has no pixels to make smaller.
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
