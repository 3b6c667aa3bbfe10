import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobStore, Renderer, StoreRole } from "@outrigger/core";
import { isServiceError } from "@outrigger/core";
import { tryStorage } from "../../storage/try-storage.ts";

/** A store, and what it keeps. */
export interface StoreInUse {
  store: BlobStore;
  roles: readonly StoreRole[];
}

export interface Readiness {
  /** What is asked: `storage`, or each of its roles where several stores share them, `renderer`, and `lookup` where there is one. */
  readonly parts: readonly string[];
  /** Why each part cannot serve; empty when all can. Asks the parts at most once a second. */
  troubles(): Promise<Record<string, unknown>>;
}

export interface ReadinessOptions {
  /** Each store once. */
  storage: readonly StoreInUse[];
  renderer: Renderer;
  /** Rejects where the records' store is not the one that was opened. Asked before anything is written there. @default Not asked */
  checkRecords?: (() => Promise<void>) | null;
  /** Rejects where the lookup's database does not answer. @default There is none */
  checkLookup?: (() => Promise<void>) | null;
  /** A part that has not answered by then is in trouble. @default 2000 */
  timeoutMs?: number;
}

const FRESH_MS = 1000;
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

/** Tells by trying whether storage can be written and read, the renderer renders and the lookup's database answers. */
export function createReadiness({
  storage,
  renderer,
  checkRecords = null,
  checkLookup = null,
  timeoutMs = 2000,
}: ReadinessOptions): Readiness {
  // Of this process alone, so that several on one storage do not disturb each other.
  const key = `readyz/${randomUUID()}`;
  const trials: { names: readonly string[]; attempt(signal: AbortSignal): Promise<void> }[] = [
    ...storage.map((inUse) => ({
      names: storage.length === 1 ? ["storage"] : inUse.roles,
      async attempt(signal: AbortSignal) {
        if (inUse.roles.includes("records")) await checkRecords?.();
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
    await Promise.all(
      trials.map(async ({ names, attempt }) => {
        try {
          await withDeadline(attempt, timeoutMs);
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
    // Where only renditions are full, pictures are served all the same: made anew each time.
    const isOnlyFull = isServiceError(error, "no_space") && roles.every((role) => role === "renditions");
    if (!isOnlyFull) throw error;
  }
}

async function tryRenderer(renderer: Renderer, signal: AbortSignal): Promise<void> {
  try {
    // Nothing is written there: the picture can stay as it is.
    const cleanedPath = join(tmpdir(), `outrigger-${randomUUID()}`);
    await renderer.admit({ bytes: PICTURE }, "image/png", { cleanedPath, keepMetadata: true }, { signal });
  } catch (error) {
    // A full queue is an answer: pictures that are stored or cached are served, and the others tell their clients to wait.
    if (!isServiceError(error, "overloaded")) throw error;
  }
}

/** A part that hangs does not look at the signal: the deadline holds without its help. */
async function withDeadline(attempt: (signal: AbortSignal) => Promise<void>, ms: number): Promise<void> {
  const controller = new AbortController();
  const late = new Error(`No answer within ${ms} ms`);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late);
      controller.abort(late);
    }, ms);
  });
  try {
    await Promise.race([attempt(controller.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
