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

/** Progress of the search, shared by all processes on a store. */
interface SearchState {
  /** Cursor of the store's list; `null`: at the start. */
  cursor: string | null;
  /** Time when a search last reached the end, in Unix milliseconds; `null`: never. */
  doneMs: number | null;
}

const KEY = `${USAGE_PREFIX}/search`;
/** Pages of up to 1000 keys in one pass. */
const PAGES_PER_PASS = 5;
/** Images that a crash left out of the ledger are found by the next search. */
const SEARCH_EVERY_MS = 30 * 86_400_000;

/**
 * Finds images whose renditions are missing from the ledger: those of a migrated store, those stored by an earlier release, and
 * those whose notes were lost in a crash. Each call searches a few pages, from where the last process stopped. A process searches
 * at its start and every 30 days, unless another process has done so.
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
      // The cursor has expired.
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
    // No state is stored for a small store: searching it again costs as little.
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
