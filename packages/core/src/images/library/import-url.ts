import { Readable } from "node:stream";
import contentDisposition from "content-disposition";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { SpooledFile } from "../../contracts/call.ts";
import { isError, isServiceError, ServiceError } from "../../errors.ts";
import { FairGate } from "../../http/fair-gate.ts";
import { utf8Of } from "../../http/header-text.ts";
import { openRemote, type RemoteFile } from "../../http/remote/open-remote.ts";
import { checkRemoteUrl, type RemoteAddress } from "../../http/remote/remote-policy.ts";
import { VERSION } from "../../openapi/version.ts";
import type { ImageSettings } from "../image-settings.ts";
import { ORIGINAL_TYPES } from "../record/formats.ts";
import { MIN_BYTES_PER_SECOND, temporaryPath } from "../uploads/uploaded-file.ts";
import { spoolSource } from "./spool-source.ts";

/** Imports of one service at once. Each may hold a connection for the whole time limit. */
const MAX_IMPORTS = 64;
const MAX_WAITING = 256;
/** The speed of the other server counts from this time on: a picture of 10 KB may still take longer to be made than to be sent. */
const GRACE_MS = 5000;
const RETRY_AFTER_MS = 5000;
/** Time limit of a fetch, redirects included. */
const TIMEOUT_MS = 30_000;

/** Most servers that choose by `Accept` would send WebP or AVIF for `image/*`. */
const HEADERS = {
  Accept: `${ORIGINAL_TYPES.join(", ")}, */*;q=0.1`,
  "User-Agent": `Outrigger/${VERSION}`,
};

export interface ImportContext {
  originals: BlobStore;
  /** Slots for imports; see {@link createImportGate}. */
  imports: FairGate;
  settings: Pick<ImageSettings, "importPolicy" | "maxUploadBytes" | "uploadIdleMs" | "log">;
}

/** The slots for imports of one service. */
export function createImportGate(): FairGate {
  return new FairGate({ slots: MAX_IMPORTS, maxQueue: MAX_WAITING, isPreemptive: true, refuse: tooMany });
}

/** Checks a URL before anything is sent. @throws `bad_request`, without the URL, which may hold secrets. */
export function parseImportUrl(given: unknown, { settings }: ImportContext): RemoteAddress {
  if (typeof given !== "string") throw new ServiceError("bad_request", "url must be a string");
  const address = checkRemoteUrl(given, settings.importPolicy);
  if (typeof address === "string") throw new ServiceError("bad_request", `url must ${address}`);
  return address;
}

/**
 * Fetches a file from another server to a spool file. Rejects with `too_large`, with `overloaded` if there is no place or the place
 * was taken back, and with `bad_request` for every failure of the server or its name: which one, only the log and `cause` tell.
 * @param declaredType Media type that the caller declares. The other server's is ignored.
 * @param client whose imports share places.
 */
export async function importUrl(
  { originals, imports, settings }: ImportContext,
  address: RemoteAddress,
  {
    declaredType,
    client,
    signal,
    maxBytes = settings.maxUploadBytes,
    timeoutMs = TIMEOUT_MS,
  }: { declaredType: string; client: string; signal: AbortSignal; maxBytes?: number; timeoutMs?: number },
): Promise<SpooledFile> {
  const { importPolicy: policy, uploadIdleMs: idleMs, log } = settings;
  const slot = await imports.enter(client, { signal, maxWaitMs: idleMs });
  const startMs = performance.now();
  let remote: RemoteFile | undefined;
  // Not `AbortSignal.timeout`: Node 20 collects one that only `AbortSignal.any` refers to, and then it never fires.
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Error(`the file takes longer than ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const bounded = AbortSignal.any([signal, slot.signal, late.signal]);
    remote = await openRemote(address, { policy, headers: HEADERS, idleMs, signal: bounded });
    const path = temporaryPath(originals);
    const file = await spoolSource(paced(remote.body), {
      path,
      declaredType,
      maxBytes,
      signal: bounded,
    });
    return { ...file, name: nameOfRemote(remote, address) };
  } catch (cause) {
    signal.throwIfAborted();
    if (slot.signal.aborted) throw tooMany();
    if (isServiceError(cause)) throw cause;
    log.info({ host: address.host, reason: isError(cause) ? cause.message : "" }, "import failed");
    throw new ServiceError(
      "bad_request",
      `The file at url could not be fetched: a server on the public internet must answer 200 with the file within ${timeoutMs / 1000} seconds`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    slot.charge(performance.now() - startMs);
    slot.leave();
    remote?.body.destroy();
  }
}

/** The body, which fails once it is slower on average. The time limit without a byte is the caller's. */
function paced(body: Readable): Readable {
  const startMs = performance.now();
  let total = 0;
  return Readable.from(
    (async function* () {
      for await (const chunk of body) {
        const ms = performance.now() - startMs;
        total += chunk.length;
        if (ms > GRACE_MS && total * 1000 < MIN_BYTES_PER_SECOND * ms) {
          throw new Error(`the server sends less than ${MIN_BYTES_PER_SECOND} bytes per second on average`);
        }
        yield chunk;
      }
    })(),
  );
}

function tooMany(): ServiceError {
  return new ServiceError("overloaded", "Too many images are being fetched. Try again later.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** The file name: of the reply, else the last segment of the URL. */
function nameOfRemote({ disposition }: RemoteFile, { url }: RemoteAddress): string {
  const named = disposition === undefined ? undefined : fileNameOf(disposition);
  const segment = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  return named ?? decoded(segment);
}

function fileNameOf(disposition: string): string | undefined {
  try {
    const { filename } = contentDisposition.parse(utf8Of(disposition)).parameters;
    return filename === "" ? undefined : filename;
  } catch {
    // A malformed header names nothing.
    return undefined;
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
