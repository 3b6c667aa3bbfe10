// Browsers scale a picture on the thread that asks for it: a photo of 49 megapixels would hold up the page.
const SIDE = 192;
const SMALL_BYTES = 100_000;

addEventListener("message", async ({ data }: MessageEvent<File>) => {
  // If the browser cannot decode the file, the server decides about it.
  postMessage(await thumbnailOf(data).catch(() => null));
});

async function thumbnailOf(file: File): Promise<Blob> {
  // Scaled at once, so that the browser never holds all pixels of a big photo. The width follows.
  const picture = await createImageBitmap(file, { resizeHeight: SIDE, resizeQuality: "high" });
  // A small file is shown itself, now that it is known to be a picture.
  if (file.size <= SMALL_BYTES) return file;
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("bitmaprenderer")?.transferFromImageBitmap(picture);
  return canvas.convertToBlob();
}
