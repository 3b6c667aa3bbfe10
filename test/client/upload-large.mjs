import { createImagesClient } from "@outrigger/client";

// Uploads to a server that refuses, and prints its reply and the peak of buffered bytes. Needs --expose-gc.
const [, , baseUrl, bytes] = process.argv;
const size = Number(bytes);
const CHUNK = 100_000;

let peakBytes = 0;
function measure() {
  globalThis.gc();
  peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers);
}

function stream() {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      const length = Math.min(CHUNK, left);
      left -= length;
      if (length === 0) return controller.close();
      controller.enqueue(new Uint8Array(length));
      if (left % (CHUNK * 100) === 0) measure();
    },
  });
}

const images = createImagesClient({ baseUrl, maxRetries: 0 });
const error = await images
  .upload({ name: "large.png", type: "image/png", size, stream })
  .catch((error) => error);
console.log(JSON.stringify({ status: error.status, peakBytes }));
