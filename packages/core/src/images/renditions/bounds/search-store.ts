import type { BlobStore } from "../../../contracts/blob-store.ts";
import { isServiceError } from "../../../errors.ts";
import { readAll } from "../../../stores/read-all.ts";
import { jsonIn, roleOf } from "../../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../../record/known-version.ts";
import { USAGE_PREFIX } from "./usage-ledger.ts";
import type { UsageNotes } from "./usage-notes.ts";

export interface StoreSearchOptions {
  store: BlobStore;
  notes: Pick<UsageNotes, "found">;
  /** The time in Unix milliseconds. */
  now(): number;
}

/** How far the processes on a store have searched it. */
interface SearchState {
  /** Of the store's list; `null`: at its beginning. */
  cursor: string | null;
  /** When a search last came to the end, in Unix milliseconds; `null`: never. */
  doneMs: number | null;
}

const KEY = `${USAGE_PREFIX}/search`;
/** Pages of up to 1000 keys in one pass. */
const PAGES_PER_PASS = 5;
/** What a crash left out of the ledger is found by the next search. */
const SEARCH_EVERY_MS = 30 * 86_400_000;

/**
 * Finds images whose renditions the ledger does not know: those of a store that was migrated, or that an earlier release
 * filled, and those whose notes were lost by a crash. Each call goes on a little, where the last process was. A process searches
 * at its start and every thirty days, unless another one has done so.
 */
export function createStoreSearch({ store, notes, now }: StoreSearchOptions): () => Promise<void> {
  let known: SearchState | null = null;

  function isDone({ doneMs, cursor }: SearchState): boolean {
    return cursor === null && doneMs !== null && now() - doneMs < SEARCH_EVERY_MS;
  }

  async function pageFrom(cursor: string | null) {
    try {
      return await store.list("", cursor === null ? {} : { cursor });
    } catch (error) {
      // The store does not know the cursor any more.
      if (cursor === null || !isServiceError(error, "bad_request")) throw error;
      return store.list("");
    }
  }

  return async () => {
    if (known !== null && isDone(known)) return;
    const state = await readState(store);
    known = state;
    if (isDone(state)) return;
    let { cursor, doneMs } = state;
    for (let page = 0; page < PAGES_PER_PASS; page++) {
      const { keys, cursor: next = null } = await pageFrom(cursor);
      const made = keys.filter((key) => roleOf(key) === "renditions");
      for (const id of new Set(made.map((key) => key.slice(0, key.indexOf("/"))))) notes.found(id);
      cursor = next;
      if (cursor === null) break;
    }
    // Of a small store nothing is kept: the next process searches it as fast.
    const isShort = state.cursor === null && cursor === null;
    if (cursor === null) doneMs = now();
    known = { cursor, doneMs };
    if (isShort) return;
    await store.put(KEY, Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ...known }), "utf8"));
  };
}

async function readState(store: BlobStore): Promise<SearchState> {
  const blob = await store.get(KEY);
  const value = blob === null ? null : jsonIn(await readAll(blob.body));
  const { v, cursor, doneMs } = Object(value) as { v?: unknown; cursor?: unknown; doneMs?: unknown }; // Checked here.
  requireKnownVersion(v, `The search for renditions (key "${KEY}")`);
  return {
    cursor: typeof cursor === "string" ? cursor : null,
    doneMs: typeof doneMs === "number" ? doneMs : null,
  };
}
