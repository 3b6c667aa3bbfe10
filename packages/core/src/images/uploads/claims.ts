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

/** The image that an idempotency key stands for. */
export interface ClaimRequest {
  /** Names key and uploader, so that one uploader's key says nothing to another: `[0-9a-f]{64}`. */
  name: string;
  /** Of the upload's content, hex. */
  fingerprint: string;
  /** Of the image that will be made. */
  id: string;
}

/** The right to make the image, or the image that an earlier upload with the key made. */
export type Claim = { held: HeldClaim } | { made: CurrentRecord };

/**
 * Idempotency keys of uploads (draft-ietf-httpapi-idempotency-key-header). Of any number of uploads with one key, on any
 * number of processes, one makes an image. A blob made with "must not exist" claims the key and names the future image; the
 * record of that image proves that it was made. The holder renews its claim, so the claim of a dead process ends soon.
 */
export interface Claims {
  /** Rejects with `conflict` for another content under the key, and, with `retryAfterMs`, while another upload makes the image. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** Forgets claims that are older than a day. */
  sweep(): Promise<void>;
}

interface StoredClaim {
  fingerprint: string;
  id: string;
  createdAt: number;
  /** The holder works until then, or longer where it renews the claim. */
  heldUntil: number;
}

/** A claim from its bytes. Throws `damaged`, naming its key, for anything else. */
export function decodeClaim(bytes: Buffer, key: string): StoredClaim {
  const { v, ...claim } = Object(jsonIn(bytes)) as Partial<StoredClaim> & { v?: unknown }; // Checked here.
  requireKnownVersion(v, `The claim of an Idempotency-Key (key "${key}")`);
  const { fingerprint, id, createdAt, heldUntil } = claim;
  const isClaim =
    typeof fingerprint === "string" &&
    typeof id === "string" &&
    Number.isSafeInteger(createdAt) &&
    Number.isSafeInteger(heldUntil);
  if (isClaim) return claim as StoredClaim; // Proved right above.
  throw new ServiceError("damaged", `The claim of an Idempotency-Key (key "${key}") is damaged`);
}

/** A claim that is not renewed ends after this time; its holder is then taken for dead. */
export const CLAIM_MS = 15_000;
const HEARTBEAT_MS = 5_000;

/** The right to make the image that an idempotency key stands for. */
export interface HeldClaim {
  /** Renews the claim now, right before the image is stored. Rejects when another upload holds it. */
  renew(): Promise<void>;
  /** The image is stored: the claim need not be held any more. */
  end(): void;
  /** There will be no image: frees the key. */
  release(): Promise<void>;
}

interface ClaimAccess {
  /** Extends the claim by compare-and-set; rejects when another upload holds it. */
  renew(): Promise<void>;
  remove(): Promise<void>;
  /** Called with renewals that failed: the next may still succeed. */
  onError(error: unknown): void;
}

/** Holds a claim that was just written, and renews it until it ends. */
function holdClaim({ renew, remove, onError }: ClaimAccess): HeldClaim {
  // Each renewal is compared with the one before.
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

/** How long a claim is kept. */
export const KEPT_MS = 86_400_000;
const BATCH = 200;

export interface ClaimsOptions {
  store: BlobStore;
  due: DueList;
  records: ImageRecords;
  now(): number;
  /** Told of claims that could not be forgotten. */
  onError(error: unknown): void;
}

export function createClaims({ store, due, records, now, onError }: ClaimsOptions): Claims {
  const keyOf = (name: string) => `idempotency/${name}`;

  /** A claim that cannot be read stands for nothing: the next request may replace it. */
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

  /** Writes a claim in the place of what was seen there, and gives its revision. Rejects with `conflict`. */
  async function write(name: string, claim: StoredClaim, seen: string | null): Promise<string> {
    const held = { v: FORMAT_VERSION, ...claim, heldUntil: now() + CLAIM_MS };
    return (await store.put(keyOf(name), Buffer.from(JSON.stringify(held)), { ifRevision: seen })).revision;
  }

  /** `null`: another upload was faster. */
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
          throw conflict("Another request with this Idempotency-Key was faster.", SOON_MS);
        }
      },
      async remove() {
        if ((await read(name))?.claim?.id === id) await store.delete(keyOf(name));
      },
      onError,
    });
  }

  /** The image that an earlier upload with the key made; `null` where there is none and the claim may be replaced. */
  async function resultOf(earlier: StoredClaim, fingerprint: string): Promise<CurrentRecord | null> {
    if (now() - earlier.createdAt >= KEPT_MS) return null;
    if (earlier.fingerprint !== fingerprint) {
      throw conflict("This Idempotency-Key was sent before with another upload. Use a new one.");
    }
    const made = await records.load(earlier.id);
    // A failed image frees the key, as a refused upload does.
    if (made !== null) return made.record.failure === null ? made : null;
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
      throw conflict("Too many requests with this Idempotency-Key at once.", SOON_MS);
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

  /** @returns whether it could be done; else the entry stays and is found again. */
  async function forget(entry: DueEntry): Promise<boolean> {
    try {
      const found = await read(entry.id);
      // A claim that was replaced since has an entry of its own.
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

/** When to ask again what became of the other upload. */
const SOON_MS = 2_000;

function conflict(message: string, retryAfterMs?: number): ServiceError {
  return new ServiceError("conflict", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
