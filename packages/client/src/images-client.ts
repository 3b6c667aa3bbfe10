import { type Instant, instantForJson, requirePin } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { type Download, download } from "./download.ts";
import { formatAddress, recordAddress } from "./image-address.ts";
import type {
  CreatedImage,
  ImageFormat,
  ImageRecord,
  ReadOptions,
  RequestOptions,
  UploadOptions,
} from "./image-types.ts";
import { readImageRecord } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import { send } from "./send.ts";
import { uploadImage } from "./upload-image.ts";
import type { UploadSource } from "./upload-source.ts";
import { askRecord, waitUntilReady, withTimeout } from "./wait-until-ready.ts";

/** What is changed of an image; what is absent stays. */
export interface ImageChange {
  /** 1 to 255 characters. */
  name?: string | undefined;
  expiresAt?: Instant | undefined;
}

/**
 * The image service at one mount point. Every method rejects with an {@link OutriggerError} for what is refused or fails, with a
 * `TypeError` for an ID or PIN that is none, and with the signal's reason.
 */
export interface ImagesClient {
  /**
   * Stores an image, once, however often it has to be sent: each call has its `Idempotency-Key`. Waits until it can be served,
   * unless `wait` is `false`; an image that turns out to be unreadable only then rejects with 404 and the reason.
   */
  upload(source: UploadSource, options?: UploadOptions): Promise<CreatedImage>;
  /** The record. `status` tells whether the image can be served yet. */
  get(id: string, options?: RequestOptions): Promise<ImageRecord>;
  /**
   * The record as soon as the image can be served; asks as often as the service wants to be asked.
   * @param options `timeoutMs`: after so long it rejects with status 202. Without, it waits for as long as it takes.
   */
  waitUntilReady(
    id: string,
    options?: RequestOptions & { timeoutMs?: number | undefined },
  ): Promise<ImageRecord>;
  /** Address of an image in a format, for links and `<img>`. Nothing is asked. */
  addressOf(id: string, format: ImageFormat, options?: ReadOptions): string;
  /** The image in a format. Waits while it is processed. */
  download(id: string, format: ImageFormat, options?: ReadOptions & RequestOptions): Promise<Download>;
  /**
   * Changes name, expiry, or both, and resolves with the record. It may be done twice without harm, so it is repeated as a read
   * is. With `ifMatch` it is repeated only after 429: a try whose answer was lost may have been done, and a second one would
   * then be refused with 412 because of the first. After a failure of the network read the record, and see.
   * @param options `ifMatch`: `etag` of a record; where somebody changed it since, the edit rejects with 412.
   */
  edit(
    id: string,
    pin: string,
    change: ImageChange,
    options?: RequestOptions & { ifMatch?: string | undefined },
  ): Promise<ImageRecord>;
  /**
   * Deletes an image. Of one that is gone already this rejects with 410; where an earlier try of the same call may have been
   * what deleted it, the call has done what was asked, and resolves.
   */
  remove(id: string, pin: string, options?: RequestOptions): Promise<void>;
}

/** A client of the image service. Throws a TypeError for an option that is out of range. */
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

    download: async (id, format, { signal, ...readOptions } = {}) =>
      download(settings, formatAddress(baseUrl, id, format, readOptions), signal),

    async edit(id, pin, { name, expiresAt }, { ifMatch, signal } = {}) {
      const url = recordAddress(baseUrl, id);
      requirePin(pin);
      const body = JSON.stringify({
        name,
        ...(expiresAt === undefined ? {} : { expiresAt: instantForJson("expiresAt", expiresAt) }),
      });
      const headers = {
        ...ownHeaders(pin),
        "Content-Type": "application/json",
        ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
      };
      const rules = { isRepeatable: ifMatch === undefined, signal };
      const sending = { method: "PATCH", url, headers, body, signal } as const;
      const { reply } = await repeat(settings, rules, () => send(settings, sending));
      if (reply.status === 200) return readImageRecord(reply);
      throw readRefusal(reply, [pin]);
    },

    async remove(id, pin, { signal } = {}) {
      const url = recordAddress(baseUrl, id);
      requirePin(pin);
      const sending = { method: "DELETE", url, headers: ownHeaders(pin), signal } as const;
      const rules = { isRepeatable: true, signal };
      const { reply, mayBeDone } = await repeat(settings, rules, () => send(settings, sending));
      if (reply.status === 204 || (reply.status === 410 && mayBeDone)) return;
      throw readRefusal(reply, [pin]);
    },
  };
}

/** The PIN goes into a header and nowhere else: addresses are logged. */
function ownHeaders(pin: string): Record<string, string> {
  return { Accept: "application/json", "X-Service-Image-Pin": pin };
}
