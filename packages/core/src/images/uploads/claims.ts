import { createHash } from "node:crypto";
import { Hold } from "../../async/hold.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, onCode, ServiceError } from "../../errors.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { readAll } from "../../stores/blob-body.ts";
import { type DueList, sweepDue } from "../../stores/due-list.ts";
import { jsonIn } from "../record/image-record.ts";
import type { CurrentRecord, ImageRecords } from "../record/image-records.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

const KEY_CHARACTERS = "[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}";

/** The header `Idempotency-Key`: quoted as in the draft, or bare as most clients send it. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: "string",
  pattern: `^(?:"(${KEY_CHARACTERS})"|(${KEY_CHARACTERS}))$`,
  examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
} as const satisfies JsonSchema;

const KEY = patternOf(IDEMPOTENCY_KEY_SCHEMA);
const KEY_NAME = "Idempotency-Key";

/**
 * Returns an idempotency key without its quotes; `null`: not given. Throws `bad_request` for a malformed key.
 * @param called Its name in messages.
 */
export function parseIdempotencyKey(value: unknown, called = KEY_NAME): string | null {
  if (value === undefined) return null;
  const [, quoted, bare] = KEY.exec(String(value)) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw new ServiceError("bad_request", `${called} must be 1 to 255 visible ASCII characters without quotes`);
}

/**
 * The name of a claim, unique per uploader and key. A claim leads to the PIN of its image, so a key is private to its uploader.
 * @param uploader Its owner, such as `owner anna`, or all that identifies a client without an owner.
 */
export function claimName(uploader: readonly string[], key: string): string {
  return digestOf([...uploader, key]);
}

/** SHA-256 of a list of texts, hex. */
export function digestOf(parts: readonly (string | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A request to claim an idempotency key for an image. */
export interface ClaimRequest {
  /** Hash of key and uploader, which keeps the keys of different uploaders apart: `[0-9a-f]{64}`. */
  name: string;
  /** Hash of the upload's content, hex. */
  fingerprint: string;
  /** ID of the image that will be created. */
  id: string;
  /** Name of the key in messages. @default "Idempotency-Key" */
  called?: string;
  /** Why the key permits no new image: a request gets the earlier one, or rejects with this. */
  expired?: ServiceError | undefined;
}

/** The claim to create an image, made before its bytes are stored. */
export interface ImageClaim {
  /** Checks, right before the image is stored, that the claim still holds. Rejects with `conflict`. */
  requireHeld(): Promise<void>;
  /** Confirms that the image is stored. */
  settle(): void;
  /** Releases the claim if no image was stored. Never rejects. */
  undo(): Promise<void>;
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
/** Time that a claim is kept, in milliseconds. */
export const KEPT_MS = 86_400_000;
/** Time after which to retry while another upload is running, in milliseconds. */
const SOON_MS = 2_000;
/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
const MAX_ATTEMPTS = 100;

export interface ClaimsOptions {
  store: BlobStore;
  due: DueList;
  records: ImageRecords;
  now(): number;
  /** Receives errors of claims that could not be read, renewed or deleted. */
  onError(error: unknown): void;
}

/**
 * Idempotency keys of uploads (draft-ietf-httpapi-idempotency-key-header). Of any number of uploads with one key, on any
 * number of processes, exactly one creates an image. A blob written with "must not exist" claims the key and names the future
 * image; the record of that image proves that it was created. The holder renews its claim, so the claim of a dead process
 * expires soon.
 */
export class Claims {
  readonly #options: ClaimsOptions;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /**
   * The right to create the image, or the image that an earlier upload with the key created. Rejects with `conflict` if the
   * key was used for other content, and, with `retryAfterMs`, while another upload holds the claim.
   */
  async claim(request: ClaimRequest): Promise<ImageClaim | { made: CurrentRecord }> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const earlier = await this.#read(request.name);
      const claim = earlier?.claim ?? null;
      const made = claim === null ? null : await this.#resultOf(claim, request);
      if (made !== null) return { made };
      if (request.expired !== undefined) throw request.expired;
      const held = await this.#hold(request, earlier?.revision ?? null);
      if (held !== null) return held;
    }
    throw conflict(
      `Too many concurrent requests with this ${request.called ?? KEY_NAME}. Send it again later.`,
      SOON_MS,
    );
  }

  /** The image that an earlier upload with the key created; `null`: none. Rejects like {@link Claims.claim}. */
  async find(request: Omit<ClaimRequest, "id">): Promise<CurrentRecord | null> {
    const claim = (await this.#read(request.name))?.claim ?? null;
    return claim === null ? null : this.#resultOf(claim, request);
  }

  /** Whether an upload claimed the key. */
  async has(name: string): Promise<boolean> {
    return (await this.#read(name)) !== null;
  }

  /** Whether an upload with the key has become an image. A failed one frees the key. */
  async isUsed(name: string): Promise<boolean> {
    const { records, now } = this.#options;
    const claim = (await this.#read(name))?.claim ?? null;
    if (claim === null || now() - claim.createdAt >= KEPT_MS) return false;
    return (await records.load(claim.id))?.record.failure === null;
  }

  /** Deletes claims older than a day. */
  async sweep(): Promise<void> {
    const { due, now, onError } = this.#options;
    await sweepDue(due, now(), (name) => this.#forget(name), onError);
  }

  /** Writes a claim and renews it; `null`: another upload claimed the key first. */
  async #hold(
    { name, fingerprint, id, called = KEY_NAME }: ClaimRequest,
    seen: string | null,
  ): Promise<ImageClaim | null> {
    const { store, due, now, onError } = this.#options;
    const claim: StoredClaim = { fingerprint, id, createdAt: now(), heldUntil: 0 };
    await due.add({ id: name, dueMs: claim.createdAt + KEPT_MS });
    let revision = seen;
    // Each write is a compare-and-set against the one before.
    const write = async () => {
      const held = { v: FORMAT_VERSION, ...claim, heldUntil: now() + CLAIM_MS };
      const writing = store.put(keyOf(name), Buffer.from(JSON.stringify(held)), { ifRevision: revision });
      const written = await writing.catch(onCode("conflict", null));
      if (written !== null) revision = written.revision;
      return written !== null;
    };
    const remove = async () => {
      const isOurs = (await this.#read(name))?.claim?.id === id;
      if (isOurs) await store.delete(keyOf(name));
      return isOurs;
    };
    if (!(await write())) return null;
    const hold = new Hold({ heldMs: CLAIM_MS, renew: write, onError });
    return {
      async requireHeld() {
        if (await hold.renew()) return;
        throw conflict(
          `Another request with this ${called} was faster. Send this one again to get its result.`,
          SOON_MS,
        );
      },
      settle: () => hold.stop(),
      async undo() {
        try {
          // A renewal that seemed to fail may have taken effect, so that the next one found the claim lost.
          if (!(await hold.end(remove))) await remove();
        } catch (error) {
          onError(error);
        }
      },
    };
  }

  /** Reads a claim. An unreadable claim protects nothing, so the next request may replace it. */
  async #read(name: string): Promise<{ claim: StoredClaim | null; revision: string } | null> {
    const { store, onError } = this.#options;
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

  /** The image that an earlier upload with the key created; `null`: no image, so the claim may be replaced. */
  async #resultOf(
    earlier: StoredClaim,
    { fingerprint, called = KEY_NAME }: Omit<ClaimRequest, "id" | "name">,
  ): Promise<CurrentRecord | null> {
    const { records, now } = this.#options;
    if (now() - earlier.createdAt >= KEPT_MS) return null;
    const made = await records.load(earlier.id);
    if (made !== null) {
      // A failed image frees the key, like a rejected upload.
      if (made.record.failure !== null) return null;
      if (earlier.fingerprint === fingerprint) return made;
      throw conflict(`This ${called} was sent before with another upload. Use a new one.`);
    }
    if (earlier.heldUntil <= now()) return null;
    throw conflict(`The first request with this ${called} is still running.`, SOON_MS);
  }

  async #forget(name: string): Promise<void> {
    const { store, now } = this.#options;
    const found = await this.#read(name);
    // A claim that was replaced since has its own entry.
    if (found !== null && (found.claim?.createdAt ?? 0) + KEPT_MS <= now()) await store.delete(keyOf(name));
  }
}

function keyOf(name: string): string {
  return `idempotency/${name}`;
}

function conflict(message: string, retryAfterMs?: number): ServiceError {
  return new ServiceError("conflict", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
