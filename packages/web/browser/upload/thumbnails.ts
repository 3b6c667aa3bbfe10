let last: Promise<void> = Promise.resolve();
let worker: Worker | undefined;

/**
 * Makes a thumbnail of a file; of several, one after another, because decoded photos are large. `onMade` receives an object URL
 * that is valid while the page is open. It is not called for a file that the browser cannot show.
 */
export function makeThumbnail(file: File, onMade: (url: string) => void): void {
  last = last.then(async () => {
    const picture = await thumbnailOf(file);
    if (picture !== null) onMade(URL.createObjectURL(picture));
  });
}

async function thumbnailOf(file: File): Promise<Blob | null> {
  // An SVG has no pixels to reduce.
  if (file.type === "image/svg+xml") return file;
  worker ??= new Worker(new URL("./thumbnail-worker.ts", import.meta.url), { type: "module" });
  const scaler = worker;
  return new Promise((resolve) => {
    scaler.onmessage = ({ data }: MessageEvent<Blob | null>) => resolve(data);
    scaler.onerror = () => {
      worker = undefined; // It did not load: the next file tries again.
      resolve(null);
    };
    scaler.postMessage(file);
  });
}
