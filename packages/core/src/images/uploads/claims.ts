import { startHeartbeat } from "../../async/heartbeat.ts";
import { createInTurn } from "../../async/in-turn.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import type { DueList } from "../../stores/due-list.ts";
import { readAll } from "../../stores/read-all.ts";
import { MAX_ATTEMPTS } from "../life/change-record.ts";
import { jsonIn } from "../record/image-record.ts";
import type { CurrentRecord, ImageRecords } from "../record/image-records.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";

/** A request to claim an idempotency key for an image. */
export interface ClaimRequest {
  /** Hash of key and uploader, which keeps the keys of different uploaders apart: `[0-9a-f]{64}`. */
  name: string;
  /** Hash of the upload's content, hex. */
  fingerprint: string;
  /** ID of the image that will be created. */
  id: string;
}

/** The right to create the image, or the image that an earlier upload with the key created. */
export type Claim = { held: HeldClaim } | { made: CurrentRecord };

/**
 * Idempotency keys of uploads (draft-ietf-httpapi-idempotency-key-header). Of any number of uploads with one key, on any
 * number of processes, exactly one creates an image. A blob written with "must not exist" claims the key and names the future
 * image; the record of that image proves that it was created. The holder renews its claim, so the claim of a dead process
 * expires soon.
 */
export interface Claims {
  /** Rejects with `conflict` if the key was used for other content, and, with `retryAfterMs`, while another upload holds the claim. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** The image that an earlier upload with the key created; `null`: none. Rejects like {@link Claims.claim}. */
  find(request: Omit<ClaimRequest, "id">): Promise<CurrentRecord | null>;
  /** Deletes claims older than a day. */
  sweep(): Promise<void>;
}

interface StoredClaim {
  fingerprint: string;
  id: string;
  createdAt: number;
  /** End of the claim in Unix milliseconds; each renewal extends it. */
  heldUntil: number;
}

/** Decodes a claim. Throws `damaged`, with the key, for bytes that are not a claim. */
export function decodeClaim(bytes: Buffer, key: string): StoredClaim {
  const { v, ...claim } = Object(jsonIn(bytes)) as Partial<StoredClaim> & { v?: unknown }; // Checked here.
  requireKnownVersion(v, `The claim of an Idempotency-Key (key "${key}")`);
  const { fingerprint, id, createdAt, heldUntil } = claim;
  const isClaim =
    typeof fingerprint === "string" &&
    typeof id === "string" &&
    Number.isSafeInteger(createdAt) &&
    Number.isSafeInteger(heldUntil);
  if (isClaim) return claim as StoredClaim; // Checked above.
  throw new ServiceError("damaged", `The claim of an Idempotency-Key (key "${key}") is damaged`);
}

/** A claim that is not renewed expires after this time; its holder is then presumed dead. */
export const CLAIM_MS = 15_000;
const HEARTBEAT_MS = 5_000;

/** The right to create the image of an idempotency key. */
export interface HeldClaim {
  /** Renews the claim right before the image is stored. Rejects when another upload holds it. */
  renew(): Promise<void>;
  /** Stops the renewals, once the image is stored. */
  end(): void;
  /** Frees the key, if no image was stored. */
  release(): Promise<void>;
}

interface ClaimAccess {
  /** Extends the claim by compare-and-set; rejects when another upload holds it. */
  renew(): Promise<void>;
  remove(): Promise<void>;
  /** Called with the error of a failed renewal. The next may still succeed. */
  onError(error: unknown): void;
}

/** Holds a claim just written, and renews it until it ends. */
function holdClaim({ renew, remove, onError }: ClaimAccess): HeldClaim {
  // Each renewal is a compare-and-set against the previous one.
  const inTurn = createInTurn();
  const renewInTurn = () => inTurn(renew);
  const end = startHeartbeat(HEARTBEAT_MS, renewInTurn, onError);
  return {
    renew: renewInTurn,
    end,
    release() {
      end();
      return inTurn(remove);
    },
  };
}

/** Time that a claim is kept, in milliseconds. */
export const KEPT_MS = 86_400_000;
const BATCH = 200;

export interface ClaimsOptions {
  store: BlobStore;
  due: DueList;
  records: ImageRecords;
  now(): number;
  /** Receives errors of claims that could not be read or deleted. */
  onError(error: unknown): void;
}

export function createClaims({ store, due, records, now, onError }: ClaimsOptions): Claims {
  const keyOf = (name: string) => `idempotency/${name}`;

  /** Reads a claim. An unreadable claim protects nothing, so the next request may replace it. */
  async function read(name: string): Promise<{ claim: StoredClaim | null; revision: string } | null> {
    const key = keyOf(name);
    const blob = await store.get(key);
    if (blob === null) return null;
    try {
      return { claim: decodeClaim(await readAll(blob.body), key), revision: blob.revision };
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
      onError(error);
      return { claim: null, revision: blob.revision };
    }
  }

  /** Writes a claim if the revision is still `seen`, and returns the new revision. Rejects with `conflict`. */
  async function write(name: string, claim: StoredClaim, seen: string | null): Promise<string> {
    const held = { v: FORMAT_VERSION, ...claim, heldUntil: now() + CLAIM_MS };
    return (await store.put(keyOf(name), Buffer.from(JSON.stringify(held)), { ifRevision: seen })).revision;
  }

  /** `null`: another upload claimed the key first. */
  async function hold(
    { name, fingerprint, id }: ClaimRequest,
    seen: string | null,
  ): Promise<HeldClaim | null> {
    const claim: StoredClaim = { fingerprint, id, createdAt: now(), heldUntil: 0 };
    await due.add({ id: name, dueMs: claim.createdAt + KEPT_MS });
    let revision: string;
    try {
      revision = await write(name, claim, seen);
    } catch (error) {
      if (isServiceError(error, "conflict")) return null;
      throw error;
    }
    return holdClaim({
      async renew() {
        try {
          revision = await write(name, claim, revision);
        } catch (error) {
          if (!isServiceError(error, "conflict")) throw error;
          throw conflict(
            "Another request with this Idempotency-Key was faster. Send this one again to get its result.",
            SOON_MS,
          );
        }
      },
      async remove() {
        if ((await read(name))?.claim?.id === id) await store.delete(keyOf(name));
      },
      onError,
    });
  }

  /** The image that an earlier upload with the key created; `null`: no image, so the claim may be replaced. */
  async function resultOf(earlier: StoredClaim, fingerprint: string): Promise<CurrentRecord | null> {
    if (now() - earlier.createdAt >= KEPT_MS) return null;
    if (earlier.fingerprint !== fingerprint) {
      throw conflict("This Idempotency-Key was sent before with another upload. Use a new one.");
    }
    const made = await records.load(earlier.id);
    // A failed image frees the key, like a rejected upload.
    if (made !== null) {
      await records.settled(made);
      return made.record.failure === null ? made : null;
    }
    if (earlier.heldUntil <= now()) return null;
    throw conflict("The first request with this Idempotency-Key is still running.", SOON_MS);
  }

  return {
    async claim(request) {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const earlier = await read(request.name);
        const claim = earlier?.claim ?? null;
        const made = claim === null ? null : await resultOf(claim, request.fingerprint);
        if (made !== null) return { made };
        const held = await hold(request, earlier?.revision ?? null);
        if (held !== null) return { held };
      }
      throw conflict("Too many concurrent requests with this Idempotency-Key. Send it again later.", SOON_MS);
    },
    async find({ name, fingerprint }) {
      const claim = (await read(name))?.claim ?? null;
      return claim === null ? null : resultOf(claim, fingerprint);
    },
    async sweep() {
      for (;;) {
        const entries = await due.due(now(), BATCH);
        let forgotten = 0;
        for (const entry of entries) if (await forget(entry)) forgotten++;
        if (entries.length < BATCH || forgotten === 0) return;
      }
    },
  };

  /** @returns whether it succeeded; else the entry stays and the next sweep retries. */
  async function forget(entry: DueEntry): Promise<boolean> {
    try {
      const found = await read(entry.id);
      // A claim that was replaced since has its own entry.
      const isOver = found !== null && (found.claim?.createdAt ?? 0) + KEPT_MS <= now();
      if (isOver) await store.delete(keyOf(entry.id));
      await due.remove(entry);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }
}

/** Time after which to retry while another upload is running, in milliseconds. */
const SOON_MS = 2_000;

function conflict(message: string, retryAfterMs?: number): ServiceError {
  return new ServiceError("conflict", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
