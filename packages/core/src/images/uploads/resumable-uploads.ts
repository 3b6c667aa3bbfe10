import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { HttpProblem } from "../../http/problem.ts";
import { readAll } from "../../stores/blob-body.ts";
import { createDueList, type DueList, sweepDue } from "../../stores/due-list.ts";
import { type CheckedLimits, OwnerUsage } from "../owners/owner-usage.ts";
import { requireRoom } from "../owners/revise-usage.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";
import type { PieceStore } from "../store/piece-store.ts";
import { digestOf, KEPT_MS } from "./claims.ts";
import type { UploadLocks } from "./upload-locks.ts";

/** An upload that arrives in pieces. Its bytes are in the {@link PieceStore} under the same key. */
export interface ResumableUpload {
  /** Hash of the client that it counts for: an owner, or an address as for rate limits. */
  client: string;
  /** Name of the owner; `null`: none. */
  owner: string | null;
  /** The claim of the ticket that permits it; `null`: the host permits it. */
  ticket: string | null;
  /** Bytes of the whole file. */
  size: number;
  /** `Upload-Metadata` and query of its creation. */
  metadata: string;
  search: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The first bytes in base64, while they are too few to be checked. */
  head?: string;
  /** The image that it became; `null`: it is unfinished. */
  image: { id: string; storedAt: number } | null;
}

/** An unfinished upload expires after this time. */
export const UNFINISHED_MS = 12 * 3_600_000;
/** Maximum number of unfinished uploads of a client. */
const MAX_UNFINISHED = 100;
/** Maximum bytes of the unfinished uploads of a client, as a multiple of the largest file. */
const MAX_FILES = 20;
const RETRY_AFTER_MS = 60_000;

export interface ResumableOptions {
  /** Store of the records. */
  store: BlobStore;
  /** Usage of the owners of images. */
  owners: OwnerUsage;
  pieces(): Promise<PieceStore>;
  locks: UploadLocks;
  /** Whether the unfinished uploads of a client are bounded. */
  isLimited: boolean;
  maxUploadBytes: number;
  now(): number;
  onError(error: unknown): void;
}

/**
 * The uploads that arrive in pieces, by the hash of their secret ID. Each is a blob beside the records, which any process finds. It is
 * removed after the bytes, so that the sweep finds what a crash left.
 */
export class ResumableUploads {
  readonly #options: ResumableOptions;
  readonly #due: DueList;
  /** Unfinished uploads by client. */
  readonly #unfinished: OwnerUsage;
  readonly locks: UploadLocks;
  readonly pieces: () => Promise<PieceStore>;

  constructor(options: ResumableOptions) {
    const { store, now, onError, locks, pieces } = options;
    this.#options = options;
    this.locks = locks;
    this.pieces = pieces;
    this.#due = createDueList(store, "resumable");
    this.#unfinished = new OwnerUsage({
      store,
      prefix: "resumable-usage/",
      index: { has: async () => false, remove: async () => undefined },
      isOwned: async (_client, key) => (await this.#read(key))?.image === null,
      now,
      onError,
    });
  }

  /**
   * Reserves room for an upload, and stores its state. Rejects with `forbidden` beyond the limits of the owner, and with
   * `rate_limited` beyond the bounds of the client.
   */
  async create(key: string, upload: ResumableUpload, ownerLimits: CheckedLimits): Promise<void> {
    const { owners, isLimited, maxUploadBytes } = this.#options;
    const { owner, size: bytes, createdAt } = upload;
    if (owner !== null) {
      const own = digestOf(["owner", owner]);
      const [stored, begun] = await Promise.all([owners.usage(owner), this.#unfinished.usage(own)]);
      const usage = { images: stored.images + begun.images, bytes: stored.bytes + begun.bytes };
      requireRoom(usage, { bytes, limits: ownerLimits });
    }
    const limits = isLimited ? { images: MAX_UNFINISHED, bytes: MAX_FILES * maxUploadBytes } : {};
    const [ofClient, ofOwner] = reservations(key, upload);
    await this.#unfinished.reserve(ofClient, limits).catch((error) => {
      if (!isServiceError(error, "forbidden")) throw error;
      const detail = "Too many unfinished uploads: finish or delete one, or wait until one expires";
      throw new ServiceError("rate_limited", detail, { retryAfterMs: RETRY_AFTER_MS });
    });
    try {
      await this.#unfinished.reserve(ofOwner, {});
      await this.#due.add({ id: key, dueMs: createdAt + UNFINISHED_MS });
      await this.#write(key, upload);
      this.#settle(key, upload);
      await (await this.pieces()).begin(key, bytes);
    } catch (error) {
      await this.remove(key, upload).catch(this.#options.onError);
      throw error;
    }
  }

  /** `null`: there is no such upload, or it has expired. */
  async load(key: string): Promise<ResumableUpload | null> {
    const upload = await this.#read(key);
    return upload === null || endOf(upload) <= this.#options.now() ? null : upload;
  }

  /** Notes the first bytes of an upload that is still unfinished: without leases, another process may have finished it. */
  async keepHead(key: string, head: Buffer): Promise<void> {
    const upload = await this.#read(key);
    if (upload?.image === null) await this.#write(key, { ...upload, head: head.toString("base64") });
  }

  /** Notes the image that an upload became, and removes the bytes of the upload. Call it under the lock. */
  async finish(key: string, upload: ResumableUpload, id: string): Promise<void> {
    const image = { id, storedAt: this.#options.now() };
    await this.#due.add({ id: key, dueMs: image.storedAt + KEPT_MS });
    // While the state still counts it.
    await this.#release(key, upload);
    await this.#write(key, { ...upload, image, head: "" });
    this.#settle(key, upload);
    // Bytes that are left are removed with the state.
    await this.#removeBytes(key).catch(this.#options.onError);
  }

  /** Removes an upload. An image that it became stays. */
  async remove(key: string, upload: ResumableUpload): Promise<void> {
    await this.#removeBytes(key);
    await this.#release(key, upload);
    await this.#options.store.delete(keyOf(key));
    this.#settle(key, upload);
  }

  /** Removes what has expired. */
  async sweep(): Promise<void> {
    const { now, onError } = this.#options;
    const forget = (key: string) => this.locks.run(key, () => this.#forget(key));
    await sweepDue(this.#due, now(), forget, (error) => {
      // It is locked, and the next sweep finds it again.
      if (!(error instanceof HttpProblem)) onError(error);
    });
  }

  /** Removes an expired upload. A living one has a later entry in the due list. Call it under the lock. */
  async #forget(key: string): Promise<void> {
    const upload = await this.#read(key);
    if (upload === null) await this.#removeBytes(key);
    else if (endOf(upload) <= this.#options.now()) await this.remove(key, upload);
  }

  async #release(key: string, upload: ResumableUpload): Promise<void> {
    await Promise.all(reservations(key, upload).map((image) => this.#unfinished.release(image)));
  }

  #settle(key: string, upload: ResumableUpload): void {
    for (const image of reservations(key, upload)) this.#unfinished.settle(image);
  }

  async #removeBytes(key: string): Promise<void> {
    await (await this.pieces()).remove(key);
  }

  async #read(key: string): Promise<ResumableUpload | null> {
    const blob = await this.#options.store.get(keyOf(key));
    if (blob === null) return null;
    const stored = Object(jsonIn(await readAll(blob.body)));
    requireKnownVersion(stored.v, "The state of a resumable upload");
    if (Number.isSafeInteger(stored.size) && Number.isSafeInteger(stored.createdAt)) return stored;
    throw new ServiceError("damaged", "The state of a resumable upload is damaged");
  }

  async #write(key: string, upload: ResumableUpload): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ ...upload, v: FORMAT_VERSION }));
    await this.#options.store.put(keyOf(key), bytes, { withoutHistory: true });
  }
}

function keyOf(key: string): string {
  return `resumable/${key}`;
}

/** When an upload is forgotten. */
function endOf({ createdAt, image }: ResumableUpload): number {
  return image === null ? createdAt + UNFINISHED_MS : image.storedAt + KEPT_MS;
}

/** What an upload counts for: its client, and its owner, whose tickets other clients may have. */
function reservations(id: string, { client, owner, size: bytes, createdAt }: ResumableUpload) {
  const ofOwner = owner === null ? null : { name: digestOf(["owner", owner]), bytes };
  const image = { id, createdAt };
  return [
    { ...image, owner: { name: client, bytes } },
    { ...image, owner: ofOwner },
  ] as const;
}
