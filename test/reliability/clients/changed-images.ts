import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Service } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { startHost } from "../../support/hosts.ts";
import { countDescriptors, type Target } from "./target.ts";

/** The image service in this process, in a host without time-outs, with a fault added. */
export interface ChangedImages extends Target {
  close(): Promise<void>;
}

/** @param change Returns the service to mount. */
export async function startChangedImages(
  data: string,
  change: (images: Service) => Service,
): Promise<ChangedImages> {
  await mkdir(join(data, "blobs"), { recursive: true });
  const errors: string[] = [];
  const images = createImages({
    storage: createFsBlobStore({ directory: data }),
    renderer: createRenderer({ workers: 1 }),
    rateLimits: false,
    asyncAfterMs: false,
    onError: (error) => errors.push(String(error)),
  });
  const host = await startHost("Express 5", change(images), "");
  return {
    base: host.base,
    data,
    countDescriptors: () => countDescriptors(),
    errors: () => errors,
    async close() {
      await host.close();
      await images.close();
    },
  };
}
