import type { ClientSettings } from "./client-options.ts";
import type { CreatedImage, UploadOptions, UploadProgress } from "./image-types.ts";
import { readCreatedImage } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import type { Reply } from "./reply.ts";
import { isUrlSource, type UploadSource, type UrlSource } from "./upload-source.ts";
import { openUploadTry } from "./upload-try.ts";

export interface UploadedImage {
  image: CreatedImage;
  /** The reply to the create; its `Retry-After` applies if the image is still processed. */
  reply: Reply;
}

/** Uploads an image without waiting until it is ready. */
export async function uploadImage(
  settings: ClientSettings,
  source: UploadSource | UrlSource,
  options: UploadOptions,
): Promise<UploadedImage> {
  const { signal, onProgress, onCreated } = options;
  const progress = createProgress(onProgress);
  const attempt = await openUploadTry(settings, source, options, progress.tell);
  const rules = { isRepeatable: true, isClaimed: true, signal };
  const { reply } = await repeat(settings, rules, attempt);
  if (reply.status !== 201 && reply.status !== 202) throw readRefusal(reply);
  const image = readCreatedImage(reply);
  if (!isUrlSource(source)) progress.end(source.size);
  onCreated?.(image);
  return { image, reply };
}

/** Reports progress to the caller, without duplicates, and finally the total. */
function createProgress(onProgress: UploadOptions["onProgress"]) {
  let last: UploadProgress | null = null;
  function tell(sentBytes: number, totalBytes: number): void {
    if (last?.sentBytes === sentBytes && last.totalBytes === totalBytes) return;
    last = { sentBytes, totalBytes };
    onProgress?.({ sentBytes, totalBytes });
  }
  return {
    tell,
    end(size: number) {
      const totalBytes = last?.totalBytes ?? size;
      tell(totalBytes, totalBytes);
    },
  };
}
