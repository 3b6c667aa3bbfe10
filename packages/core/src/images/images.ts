import { type BlobStore, hasLocalSecret } from "../contracts/blob-store.ts";
import type { Call, Reply, Service } from "../contracts/call.ts";
import { createMemoryRateLimiter } from "../stores/memory-rate-limiter.ts";
import type { ImageContext } from "./image-context.ts";
import { createImageRecords } from "./image-records.ts";
import { createImageService } from "./image-service.ts";
import { type ImageStorage, type ImagesOptions, imageSettings } from "./images-options.ts";
import { createPins, type Pins } from "./pin.ts";
import { createRenditions } from "./renditions.ts";

/** Image hosting, ready to be mounted by an adapter. */
export interface Images extends Service {
  /** Resolves when the service can serve: its secret is there. Rejects with what is in the way. */
  ready(): Promise<void>;
  /** Ends the renderer and the stores that it was given, after what is under way. Calling it twice is allowed. */
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
  const stores = new Set([roles.records, roles.originals, roles.renditions]);
  let service: Service | null = null;
  let closing: Promise<void> | null = null;

  async function start(): Promise<Service> {
    const context: ImageContext = {
      settings,
      records: createImageRecords(roles.records),
      originals: roles.originals,
      renditions,
      renderer: options.renderer,
      pins: await pins(),
      pages: options.pages ?? null,
      limiter,
    };
    service = createImageService(context);
    return service;
  }

  async function close(): Promise<void> {
    await options.renderer.close();
    await renditions.close();
    for (const store of stores) await store.close();
    if (options.rateLimiter === undefined) await limiter.close();
  }

  let starting: Promise<Service> | null = null;
  const started = () => {
    starting ??= start().catch((error) => {
      // A disk that was not there at the first request may be at the next.
      starting = null;
      throw error;
    });
    return starting;
  };

  return {
    handle(call: Call): Promise<Reply | undefined> {
      return service === null ? started().then((each) => each.handle(call)) : service.handle(call);
    },
    async ready() {
      await started();
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

/** The given secret, checked now; or the one that the records' store keeps, read at the first request. */
function choosePins({ secret }: ImagesOptions, records: BlobStore): () => Promise<Pins> {
  if (secret !== undefined) {
    const pins = createPins(secret);
    return async () => pins;
  }
  if (hasLocalSecret(records)) return async () => createPins(await records.localSecret());
  throw new TypeError(
    "secret is required: this storage keeps none of its own. Give at least 32 random bytes.",
  );
}
