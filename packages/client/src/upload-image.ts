import type { Instant } from "./checks.ts";
import type { ClientSettings } from "./client-options.ts";
import type { CreatedImage, RequestOptions } from "./image-types.ts";
import { readCreatedImage } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import type { Reply } from "./reply.ts";
import type { UploadSource } from "./upload-source.ts";
import { openUploadTry } from "./upload-try.ts";

export interface UploadProgress {
  /** Of the request's body, which is a little longer than the file. Begins anew when an upload is repeated. */
  sentBytes: number;
  totalBytes: number;
}

export interface UploadOptions extends RequestOptions {
  /** @default the source's own name */
  fileName?: string | undefined;
  /** What the image is called, 1 to 255 characters. @default the file's name */
  name?: string | undefined;
  /** @default as the service has it: 24 hours from now */
  expiresAt?: Instant | undefined;
  /** Told while bytes go out; the last time when all have. What it throws ends the upload. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Told once, as soon as the service has taken the image, before any wait: what ends the wait does not lose the PIN. */
  onCreated?: ((image: CreatedImage) => void) | undefined;
  /** Makes a repeated upload the same one: 1 to 255 visible ASCII characters. @default a random one for each call */
  idempotencyKey?: string | undefined;
  /** Whether to wait until the image can be served. `false`: the service is asked to process it later. @default true */
  wait?: boolean | undefined;
}

export interface TakenImage {
  image: CreatedImage;
  /** Of the create, which says when to look again where the image is still processed. */
  reply: Reply;
}

/** Uploads, without waiting until the image is processed. */
export async function uploadImage(
  settings: ClientSettings,
  source: UploadSource,
  options: UploadOptions,
): Promise<TakenImage> {
  const { signal, onProgress, onCreated } = options;
  const progress = createProgress(onProgress);
  const attempt = await openUploadTry(settings, source, options, progress.tell);
  const rules = { isRepeatable: true, isClaimed: true, signal };
  const { reply } = await repeat(settings, rules, attempt);
  if (reply.status !== 201 && reply.status !== 202) throw readRefusal(reply);
  const image = readCreatedImage(reply);
  progress.end(source.size);
  onCreated?.(image);
  return { image, reply };
}

/** Tells the caller of progress, nothing twice, and at last that all has gone. */
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
