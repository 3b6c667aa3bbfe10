import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError, type StoreRole } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { abortable, type BlobStore } from "@outrigger/core/stores";
import { refusedRole } from "../../storage/inspect-targets.ts";
import { tryStorage } from "../../storage/try-storage.ts";

/** A store and its roles. */
export interface StoreInUse {
  store: BlobStore;
  roles: readonly StoreRole[];
}

export interface Readiness {
  /** The checked parts: `storage` or, with several stores, each role; `renderer`; and `lookup` if there is one. */
  readonly parts: readonly string[];
  /** The error of each failing part; empty if all work. Checks the parts at most once a second. */
  troubles(): Promise<Record<string, unknown>>;
}

export interface ReadinessOptions {
  /** Each distinct store once. */
  storage: readonly StoreInUse[];
  renderer: Renderer;
  /** Rejects if a store is not the one that was opened. Called before anything is written there. @default no check */
  checkStores?: (() => Promise<void>) | null;
  /** Rejects if the lookup's database does not respond. @default no lookup */
  checkLookup?: (() => Promise<void>) | null;
  /** Milliseconds after which a part without a response counts as failing. @default 2000 */
  timeoutMs?: number;
}

/** Resolves to the reason why a store is refused; `null`: none is. */
type StoresCheck = Promise<unknown>;

const FRESH_MS = 1000;
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

/** Checks by trial that storage can be written and read, the renderer works and the lookup's database responds. */
export function createReadiness({
  storage,
  renderer,
  checkStores = null,
  checkLookup = null,
  timeoutMs = 2000,
}: ReadinessOptions): Readiness {
  // Unique to this process, so that processes on the same storage do not interfere.
  const key = `readyz/${randomUUID()}`;
  const trials: {
    names: readonly string[];
    attempt(signal: AbortSignal, check: StoresCheck): Promise<void>;
  }[] = [
    ...storage.map((inUse) => ({
      names: storage.length === 1 ? ["storage"] : inUse.roles,
      async attempt(signal: AbortSignal, check: StoresCheck) {
        const refusal = await check;
        const role = refusedRole(refusal);
        if (role !== null && inUse.roles.includes(role)) throw refusal;
        await tryStore(inUse, key, signal);
      },
    })),
    { names: ["renderer"], attempt: (signal: AbortSignal) => tryRenderer(renderer, signal) },
    ...(checkLookup === null ? [] : [{ names: ["lookup"], attempt: checkLookup }]),
  ];
  let result: Promise<Record<string, unknown>> | null = null;
  let answeredAt = Number.POSITIVE_INFINITY;

  async function ask(): Promise<Record<string, unknown>> {
    const troubles: Record<string, unknown> = {};
    // Half of the time, so that a store that does not answer leaves the others time for their own trial.
    const check: StoresCheck = withDeadline(async () => checkStores?.(), timeoutMs / 2).then(
      () => null,
      (error) => error,
    );
    await Promise.all(
      trials.map(async ({ names, attempt }) => {
        try {
          await withDeadline((signal) => attempt(signal, check), timeoutMs);
        } catch (error) {
          for (const name of names) troubles[name] = error;
        }
      }),
    );
    answeredAt = performance.now();
    return troubles;
  }

  return {
    parts: trials.flatMap(({ names }) => names),
    troubles() {
      if (result === null || performance.now() - answeredAt >= FRESH_MS) {
        answeredAt = Number.POSITIVE_INFINITY;
        result = ask();
      }
      return result;
    },
  };
}

async function tryStore({ store, roles }: StoreInUse, key: string, signal: AbortSignal): Promise<void> {
  try {
    await tryStorage(store, key, signal);
  } catch (error) {
    // If only the store of renditions is full, pictures are still served: each is rendered again.
    const isOnlyFull = isServiceError(error, "no_space") && roles.every((role) => role === "renditions");
    if (!isOnlyFull) throw error;
  }
}

async function tryRenderer(renderer: Renderer, signal: AbortSignal): Promise<void> {
  try {
    // Nothing is written there: the picture needs no cleaning.
    const cleanedPath = join(tmpdir(), `outrigger-${randomUUID()}`);
    await renderer.admit({ bytes: PICTURE }, "image/png", { cleanedPath, keepMetadata: true }, { signal });
  } catch (error) {
    // A renderer with a full queue works: stored and cached pictures are served, others answer 503.
    if (!isServiceError(error, "overloaded")) throw error;
  }
}

/** Enforces the deadline even if a part ignores the signal. */
async function withDeadline(attempt: (signal: AbortSignal) => Promise<void>, ms: number): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`No response within ${ms} ms`)), ms);
  await abortable(attempt(controller.signal), controller.signal).finally(() => clearTimeout(timer));
}
