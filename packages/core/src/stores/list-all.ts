import type { BlobStore, KeyPage, ListOptions } from "../contracts/blob-store.ts";
import { accessReason, isError, ServiceError } from "../errors.ts";

/** Directories that an error names at most. */
const NAMED = 3;

/** Collects the directories that a listing may not read. The listing yields all other keys, and fails at its end. */
export class Unreadable {
  readonly #errors = new Map<string, unknown>();
  /** `onUnreadable` of a listing. */
  readonly note = (path: string, error: unknown): void => void this.#errors.set(path, error);

  /** Throws `store_unavailable` with paths and remedy, unless everything was read: a part must not pass for the whole. */
  throwAny(): void {
    const errors = [...this.#errors.values()];
    if (errors.length === 0) return;
    if (errors.length === 1) throw errors[0];
    const reasons = errors
      .slice(0, NAMED)
      .map((error) => accessReason(error) ?? (isError(error) && error.message));
    const more = errors.length > NAMED ? `; and ${errors.length - NAMED} more directories` : "";
    throw new ServiceError("store_unavailable", reasons.join("; ") + more);
  }
}

/**
 * All pages of a listing.
 * @param onUnreadable As for `list`. @default the walk rejects after the last page
 */
export async function* allPages(
  list: (options: ListOptions) => Promise<KeyPage>,
  onUnreadable?: ListOptions["onUnreadable"],
): AsyncGenerator<string[]> {
  const unreadable = new Unreadable();
  const options = { onUnreadable: onUnreadable ?? unreadable.note };
  let cursor: string | undefined;
  do {
    const page = await list(cursor === undefined ? options : { ...options, cursor });
    yield page.keys;
    cursor = page.cursor;
  } while (cursor !== undefined);
  unreadable.throwAny();
}

/** All keys that begin with `prefix`, page by page. @param onUnreadable As for {@link allPages}. */
export async function* listAll(
  store: Pick<BlobStore, "list">,
  prefix: string,
  onUnreadable?: ListOptions["onUnreadable"],
): AsyncGenerator<string> {
  for await (const keys of allPages((options) => store.list(prefix, options), onUnreadable)) yield* keys;
}
