import type { BlobStore } from "../../contracts/blob-store.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { HttpProblem } from "../../http/http-problem.ts";
import type { DueList } from "../../stores/due-list.ts";
import { readAll } from "../../stores/read-all.ts";
import { MAX_ATTEMPTS } from "../life/change-record.ts";
import { type ImageRecord, jsonIn } from "../record/image-record.ts";
import type { ImageRecords } from "../record/image-records.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";
import { CLAIM_MS, type HeldClaim, holdClaim } from "./held-claim.ts";

/** What an `Idempotency-Key` stands for. */
export interface ClaimRequest {
  /** Names key and client, so that one client's key says nothing to another: `[0-9a-f]{64}`. */
  name: string;
  /** Of the request's content, hex. */
  fingerprint: string;
  /** Of the image that will be made. */
  id: string;
}

/** The right to do what the key stands for, or the image that was made for it already. */
export type Claim = { held: HeldClaim } | { made: ImageRecord };

/**
 * Keys of creates (draft-ietf-httpapi-idempotency-key-header): of any number of requests with one key, on any number of
 * processes, one makes an image. The key is claimed by a blob made with "must not exist" that names the image to be; the
 * image's record tells that it was done. Whoever holds a claim renews it, so that one left by a process that died is soon
 * free.
 */
export interface Claims {
  /** Rejects with a 409 problem while another request does it, and for another content under the key. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** Forgets claims that are older than a day. */
  sweep(): Promise<void>;
}

interface StoredClaim {
  fingerprint: string;
  id: string;
  createdAt: number;
  /** Its holder is at work until then, or longer where it prolongs it. */
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

/** How long a claim is remembered. */
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

  /** `null`: somebody was faster. */
  async function take(
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
          throw conflict("Another request with this Idempotency-Key was faster.", SOON);
        }
      },
      async remove() {
        if ((await read(name))?.claim?.id === id) await store.delete(keyOf(name));
      },
      onError,
    });
  }

  /** The image that an earlier request with the key made; `null` where there is none, so that the claim may be taken over. */
  async function resultOf(earlier: StoredClaim, fingerprint: string): Promise<ImageRecord | null> {
    if (now() - earlier.createdAt >= KEPT_MS) return null;
    if (earlier.fingerprint !== fingerprint) {
      throw conflict("This Idempotency-Key was sent before with another upload. Use a new one.");
    }
    const made = await records.load(earlier.id);
    // One that was refused after it had been accepted leaves the key as free as one that was refused at once.
    if (made !== null) return made.record.failure === null ? made.record : null;
    if (earlier.heldUntil <= now()) return null;
    throw conflict("The first request with this Idempotency-Key is still running.", SOON);
  }

  return {
    async claim(request) {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const earlier = await read(request.name);
        const claim = earlier?.claim ?? null;
        const made = claim === null ? null : await resultOf(claim, request.fingerprint);
        if (made !== null) return { made };
        const held = await take(request, earlier?.revision ?? null);
        if (held !== null) return { held };
      }
      throw conflict("Too many requests with this Idempotency-Key at once.", SOON);
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
      // One that was taken over since has an entry of its own.
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

/** When it is worth asking again what became of the other request. */
const SOON = { "Retry-After": "2" };

function conflict(detail: string, headers: Record<string, string> = {}): HttpProblem {
  return new HttpProblem({ status: 409, detail, headers });
}
