import Uppy, { type UppyFile } from "@uppy/core";
import DropTarget from "@uppy/drop-target";
import XHRUpload from "@uppy/xhr-upload";
import type { KeptMeta } from "../../saved/kept-uploads.ts";

/** Metadata of a file: the key of the upload on this page, and what is sent. */
export type SentMeta = { key: string } & Pick<KeptMeta, keyof KeptMeta>;

/** The body of a reply, not validated yet. */
export type SentBody = Record<string, unknown>;

export type SentFile = UppyFile<SentMeta, SentBody>;

export interface CreateUppyOptions {
  /** Where files are posted to. */
  endpoint: string;
  /** Returns the file with its metadata, or `false` to leave it out. */
  take(file: SentFile): SentFile | false;
  /** Awaited before each file is sent. */
  beforeSending(key: string): Promise<void>;
}

const SIMULTANEOUS = 3;
const SILENT = { debug() {}, warn() {}, error() {} };

/** Sends files as they are added, a few at a time. Accepts files dropped anywhere on the page. */
export function createUppy({ endpoint, take, beforeSending }: CreateUppyOptions): Uppy<SentMeta, SentBody> {
  return (
    new Uppy<SentMeta, SentBody>({ autoProceed: true, logger: SILENT, onBeforeFileAdded: take })
      // The whole document: the body ends where its content does.
      .use(DropTarget, { target: document.documentElement })
      .use(XHRUpload<SentMeta, SentBody>, {
        endpoint,
        fieldName: "imagedata",
        allowedMetaFields: ["name", "expiresAt"],
        limit: SIMULTANEOUS,
        // The server ends stalled uploads, and `outcomeOf` decides about retries.
        timeout: 0,
        shouldRetry: () => false,
        headers: ({ meta }) => ({ "Idempotency-Key": meta.idempotencyKey }),
        onBeforeRequest: async (_request, _retries, files) => {
          for (const { id } of files) await beforeSending(id);
        },
        getResponseData: ({ responseText }) => readObject(responseText),
      })
  );
}

function readObject(text: string): SentBody {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    // Not a reply of the service; the reader of the body reports that.
    return {};
  }
}
