import Uppy, { type UppyFile } from "@uppy/core";
import DropTarget from "@uppy/drop-target";
import XHRUpload from "@uppy/xhr-upload";

/** What goes with a file. */
export type SentMeta = {
  /** Names the upload on this page. */
  key: string;
  /** Makes a repeated upload the same one for the service. */
  idempotencyKey: string;
  /** Fields of the form. */
  name: string;
  expiresAt: string;
};

/** A reply; what it holds is checked where it is read. */
export type SentBody = Record<string, unknown>;

export type SentFile = UppyFile<SentMeta, SentBody>;

export interface CreateUppyOptions {
  /** Where files are posted to. */
  endpoint: string;
  /** Gives a file what goes with it, or leaves it out by `false`. */
  take(file: SentFile): SentFile | false;
  /** Awaited before each file is sent. */
  beforeSending(key: string): Promise<void>;
}

const SIMULTANEOUS = 3;
const SILENT = { debug() {}, warn() {}, error() {} };

/** Sends files as they come, a few at a time; takes those that are dropped anywhere on the page. */
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
        // The server ends what stands still, and `outcomeOf` judges what went wrong.
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
    // No reply of the service's, which is for the reader of the body to find.
    return {};
  }
}
