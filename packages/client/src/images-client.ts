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
import { readImageRecord, readRefusal } from "./reply.ts";
import { request, requestUntilReady } from "./request.ts";
import { uploadImage } from "./upload.ts";
import type { UrlSource } from "./upload-source.ts";

/** The changes of an edit; absent fields stay unchanged. */
export interface ImageChange {
  /** 1 to 255 characters. */
  name?: string | undefined;
  /** At most 1000 characters. `null` or empty removes it. */
  description?: string | null | undefined;
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
   * Stores an image exactly once, even after retries: each call has an `Idempotency-Key`. Waits until the image is ready, or held
   * for review, unless `wait` is `false`. If the image proves unreadable during that wait, rejects with 404 and the reason.
   *
   * From `{ url }` the service fetches the file itself, if its option `importUrls` permits that: else it rejects with 415. A URL
   * that the service cannot fetch rejects with 400. `onProgress` has no effect then.
   */
  upload(source: Blob | UrlSource, options?: UploadOptions & { ticket?: undefined }): Promise<CreatedImage>;
  upload(source: Blob | UrlSource, options: UploadOptions): Promise<ImageRecord & Partial<CreatedImage>>;
  /** The record. `status` shows whether the image can be served. */
  get(id: string, options?: RequestOptions): Promise<ImageRecord>;
  /** The record once the image is ready, or held for review (`status`). Polls at the interval that the service requests. */
  waitUntilReady(id: string, options?: RequestOptions): Promise<ImageRecord>;
  /** Address of an image in a format, for links and `<img>`. Sends no request. */
  addressOf(id: string, format: AddressFormat, options?: ReadOptions): string;
  /** The image in a format. Waits until the image is ready. */
  download(id: string, format: AddressFormat, options?: DownloadOptions): Promise<Download>;
  /**
   * Changes name, description, expiry or focus, and resolves with the record. An edit is safe to execute twice, so it is retried like a read.
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
  const reading = (id: string, signal: AbortSignal | undefined) => ({
    url: recordAddress(baseUrl, id),
    headers: { Accept: "application/json" },
    signal,
  });
  /** For a request with a PIN, which is sent only in a header, since addresses are logged. */
  const changing = (id: string, given: string, signal: AbortSignal | undefined) => {
    const { url, headers } = reading(id, signal);
    const pin = requirePin(given);
    return { url, headers: { ...headers, "X-Service-Image-Pin": pin }, signal, secrets: [pin] };
  };

  return {
    async upload(source: Blob | UrlSource, uploadOptions: UploadOptions = {}) {
      const { image, reply } = await uploadImage(settings, source, uploadOptions);
      if (image.status !== "processing" || uploadOptions.wait === false) return image;
      const sending = reading(image.id, uploadOptions.signal);
      const waiting = requestUntilReady(settings, sending, { earlier: reply }).then(readImageRecord);
      const record = await waiting.catch((error) => {
        // Stored: a ticket does not permit reads.
        if (uploadOptions.ticket !== undefined && Object(error).status === 403) return image;
        throw error;
      });
      const { editUrl, pin }: Partial<CreatedImage> = image;
      // The overloads tell when both may be absent.
      return { ...record, ...(pin !== undefined && { editUrl, pin }) } as CreatedImage;
    },

    get: async (id, { signal } = {}) => {
      const sending = { ...reading(id, signal), expected: [200, 202] };
      return readImageRecord(await request(settings, sending));
    },

    waitUntilReady: async (id, { signal } = {}) =>
      readImageRecord(await requestUntilReady(settings, reading(id, signal))),

    addressOf: (id, format, readOptions) => formatAddress(baseUrl, id, format, readOptions),

    download: async (id, format, { signal, accept, ...readOptions } = {}) =>
      download(settings, formatAddress(baseUrl, id, format, readOptions), { signal, accept }),

    async edit(id, pin, { name, description, expiresAt, focus }, { ifMatch, signal } = {}) {
      const { headers, ...sending } = changing(id, pin, signal);
      const reply = await request(settings, {
        ...sending,
        method: "PATCH",
        headers: {
          ...headers,
          "Content-Type": "application/json",
          ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
        },
        body: JSON.stringify({
          name,
          description,
          expiresAt: expiresAt === undefined ? undefined : instantForJson("expiresAt", expiresAt),
          focus,
        }),
        isRepeatable: ifMatch === undefined,
      });
      return readImageRecord(reply);
    },

    async remove(id, pin, { keepalive, signal } = {}) {
      const sending = changing(id, pin, signal);
      const expected = [204, 410];
      const reply = await request(settings, { ...sending, method: "DELETE", keepalive, expected });
      if (reply.status === 410 && !reply.mayBeDone) throw readRefusal(reply, sending.secrets);
    },
  };
}
