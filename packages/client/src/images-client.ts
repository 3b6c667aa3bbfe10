import { type Instant, instantForJson, requirePin } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { type Download, download } from "./download.ts";
import { formatAddress, recordAddress } from "./image-address.ts";
import type {
  AddressFormat,
  CreatedImage,
  DownloadOptions,
  ImageRecord,
  PicturePoint,
  ReadOptions,
  RequestOptions,
  UploadOptions,
} from "./image-types.ts";
import { readImageRecord } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { request } from "./repeat.ts";
import { uploadImage } from "./upload.ts";
import type { UploadSource, UrlSource } from "./upload-source.ts";
import { askRecord, waitUntilReady, withTimeout } from "./wait-until-ready.ts";

/** The changes of an edit; absent fields stay unchanged. */
export interface ImageChange {
  /** 1 to 255 characters. */
  name?: string | undefined;
  /** `null`: never; a service that limits lifetimes rejects it with 400. */
  expiresAt?: Instant | null | undefined;
  /** The point that `fit: "cover"` keeps. `null` removes it. */
  focus?: PicturePoint | null | undefined;
}

/**
 * The image service at one mount point. Every method rejects with an {@link OutriggerError} for a refusal or a failure, with a
 * `TypeError` for an invalid ID or PIN, and with the reason of an aborted signal.
 */
export interface ImagesClient {
  /**
   * Stores an image exactly once, even after retries: each call has an `Idempotency-Key`. Waits until the image is ready unless
   * `wait` is `false`. If the image proves unreadable during that wait, rejects with 404 and the reason.
   *
   * From `{ url }` the service fetches the file itself, if its option `importUrls` permits that: else it rejects with 415. A URL
   * that the service cannot fetch rejects with 400. `fileName` and `onProgress` have no effect then.
   */
  upload(source: UploadSource | UrlSource, options?: UploadOptions): Promise<CreatedImage>;
  /** The record. `status` shows whether the image can be served. */
  get(id: string, options?: RequestOptions): Promise<ImageRecord>;
  /**
   * The record once the image is ready. Polls at the interval that the service requests.
   * @param options `timeoutMs`: rejects with status 202 after this time. Absent: no timeout.
   */
  waitUntilReady(
    id: string,
    options?: RequestOptions & { timeoutMs?: number | undefined },
  ): Promise<ImageRecord>;
  /** Address of an image in a format, for links and `<img>`. Sends no request. */
  addressOf(id: string, format: AddressFormat, options?: ReadOptions): string;
  /** The image in a format. Waits until the image is ready. */
  download(id: string, format: AddressFormat, options?: DownloadOptions): Promise<Download>;
  /**
   * Changes name, expiry or focus, and resolves with the record. An edit is safe to execute twice, so it is retried like a read.
   * With `ifMatch` it is retried only after 429: if a lost reply belonged to a successful edit, a retry would be refused with
   * 412. After a network failure, read the record to see the result.
   * @param options `ifMatch`: `etag` of a record. If the record has changed since, the edit rejects with 412.
   */
  edit(
    id: string,
    pin: string,
    change: ImageChange,
    options?: RequestOptions & { ifMatch?: string | undefined },
  ): Promise<ImageRecord>;
  /**
   * Deletes an image. Rejects with 410 if the image is already gone, but resolves if an earlier try of the same call may have
   * deleted it.
   * @param options `keepalive`: a browser completes the request after its page is closed, but does not retry it then.
   */
  remove(
    id: string,
    pin: string,
    options?: RequestOptions & { keepalive?: boolean | undefined },
  ): Promise<void>;
}

/** A client of the image service. Throws a TypeError for an invalid option. */
export function createImagesClient(options: ClientOptions): ImagesClient {
  const settings = clientSettings("createImagesClient", options, CLIENT_RULES);
  const { baseUrl } = settings;
  return {
    async upload(source, uploadOptions = {}) {
      const { image, reply } = await uploadImage(settings, source, uploadOptions);
      if (image.status === "ready" || uploadOptions.wait === false) return image;
      const record = await waitUntilReady(settings, image.id, uploadOptions, reply);
      return { ...record, editUrl: image.editUrl, pin: image.pin };
    },

    get: async (id, requestOptions = {}) => readImageRecord(await askRecord(settings, id, requestOptions)),

    waitUntilReady: async (id, { timeoutMs, signal } = {}) =>
      withTimeout(timeoutMs, signal, (bounded) => waitUntilReady(settings, id, { signal: bounded })),

    addressOf: (id, format, readOptions) => formatAddress(baseUrl, id, format, readOptions),

    download: async (id, format, { signal, accept, ...readOptions } = {}) =>
      download(settings, formatAddress(baseUrl, id, format, readOptions), { signal, accept }),

    async edit(id, pin, { name, expiresAt, focus }, { ifMatch, signal } = {}) {
      const url = recordAddress(baseUrl, id);
      requirePin(pin);
      const body = JSON.stringify({
        name,
        ...(expiresAt === undefined ? {} : { expiresAt: instantForJson("expiresAt", expiresAt) }),
        focus,
      });
      const headers = {
        ...ownHeaders(pin),
        "Content-Type": "application/json",
        ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
      };
      const sending = { method: "PATCH", url, headers, body, signal } as const;
      const { reply } = await request(settings, sending, ifMatch === undefined);
      if (reply.status === 200) return readImageRecord(reply);
      throw readRefusal(reply, [pin]);
    },

    async remove(id, pin, { keepalive, signal } = {}) {
      const url = recordAddress(baseUrl, id);
      requirePin(pin);
      const sending = { method: "DELETE", url, headers: ownHeaders(pin), keepalive, signal } as const;
      const { reply, mayBeDone } = await request(settings, sending);
      if (reply.status === 204 || (reply.status === 410 && mayBeDone)) return;
      throw readRefusal(reply, [pin]);
    },
  };
}

/** The PIN is sent only in a header, since addresses are logged. */
function ownHeaders(pin: string): Record<string, string> {
  return { Accept: "application/json", "X-Service-Image-Pin": pin };
}
