import { type BlobStore, hasLocalSecret } from "../contracts/blob-store.ts";
import type { Service } from "../contracts/call.ts";
import { createMemoryRateLimiter } from "../stores/memory-rate-limiter.ts";
import type { ProcessingContext } from "./image-context.ts";
import { createImageRecords } from "./image-records.ts";
import { createImageService } from "./image-service.ts";
import { type ImageStorage, type ImagesOptions, imageSettings } from "./images-options.ts";
import { createPins, type Pins } from "./pin.ts";
import { createJobMarkers } from "./processing/job-markers.ts";
import { createJobs } from "./processing/jobs.ts";
import { createRenditions } from "./renditions.ts";

/** Image hosting, ready to be mounted by an adapter. */
export interface Images extends Service {
  /** Resolves when the service can serve: its secret is there. Rejects with what is in the way. */
  ready(): Promise<void>;
  /**
   * Ends the renderer and the stores that it was given, after what is under way. Uploads that are still being processed
   * are left to other processes, or to the next start. Calling it twice is allowed.
   */
  close(): Promise<void>;
}

/**
 * Image hosting over the given storage and renderer.
 * @throws TypeError for an option out of range, and for a shared storage without `secret`.
 * @example
 * const images = createImages({ storage: createFsBlobStore({ directory: "./data" }), renderer: createRenderer() });
 * app.use("/img", express(images));
 */
export function createImages(options: ImagesOptions): Images {
  const settings = imageSettings(options);
  const roles = rolesOf(options.storage);
  const pins = choosePins(options, roles.records);
  const limiter = options.rateLimiter ?? createMemoryRateLimiter();
  const renditions = createRenditions({
    ...roles,
    renderer: options.renderer,
    memoryBytes: settings.memoryBytes,
    onError: settings.onError,
  });
  const processing: ProcessingContext = {
    settings,
    records: createImageRecords(roles.records),
    originals: roles.originals,
    renditions,
    renderer: options.renderer,
    markers: createJobMarkers(roles.records),
  };
  const jobs = createJobs(processing);
  const service = createImageService({ ...processing, jobs, pins, pages: options.pages ?? null, limiter });
  jobs.start();
  let closing: Promise<void> | null = null;

  async function close(): Promise<void> {
    const jobsEnded = jobs.close();
    await options.renderer.close();
    await jobsEnded;
    await renditions.close();
    for (const store of new Set(Object.values(roles))) await store.close();
    if (options.rateLimiter === undefined) await limiter.close();
  }

  return {
    handle: (call) => service.handle(call),
    async ready() {
      await pins();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function rolesOf(storage: ImageStorage): {
  records: BlobStore;
  originals: BlobStore;
  renditions: BlobStore;
} {
  return "records" in storage ? storage : { records: storage, originals: storage, renditions: storage };
}

/** PINs by the given secret, checked now; or by the one that the records' store keeps, read when first needed. */
function choosePins({ secret }: ImagesOptions, records: BlobStore): () => Promise<Pins> {
  if (secret !== undefined) {
    const pins = Promise.resolve(createPins(secret));
    return () => pins;
  }
  if (!hasLocalSecret(records)) {
    throw new TypeError(
      "secret is required: this storage keeps none of its own. Give at least 32 random bytes.",
    );
  }
  let pins: Promise<Pins> | null = null;
  return () => {
    pins ??= records.localSecret().then(createPins, (error) => {
      // What was in the way now may be gone at the next request.
      pins = null;
      throw error;
    });
    return pins;
  };
}
