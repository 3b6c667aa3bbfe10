import { createHash } from "node:crypto";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import type { LookupKeys } from "./lookup-keys.ts";

/**
 * Proves that a suppression list was made with known secrets.
 *
 * A list has places, numbered from 1. A place is a public token. Next to it is a marker: the HMAC of the
 * place's number under the secret that took the place. Every secret that was used for entries holds a place.
 * A process that does not know the secret of every taken place would miss entries, so it must not answer.
 * Places are never released.
 */
export interface Markers {
  /**
   * Checks the list once, and marks a new list. Rejects with `host_misuse` for another secret, now and on
   * every later call. Rejects with `store_unavailable` while the list is unavailable, and checks again on the
   * next call.
   */
  check(): Promise<void>;
  /** Makes the first secret hold a place, so that it can be used for new entries. */
  claim(): Promise<void>;
  /** Tokens to include in every query, for {@link isCurrent}. */
  watched(): readonly string[];
  /**
   * Whether a query for {@link watched} shows the same places as the check. If not, the next check reads them
   * again.
   */
  isCurrent(present: ReadonlySet<string>): boolean;
  /** The number of tokens in the list that are places or markers. */
  count(): Promise<number>;
}

/**
 * Maximum number of secrets over the life of a list. All places, and the markers of one secret, fit into one
 * query.
 */
const MAX_PLACES = 16;
const PLACES = Array.from({ length: MAX_PLACES }, (_, index) =>
  createHash("sha256")
    .update(`outrigger lookup: place ${index + 1} of a suppression list`)
    .digest("base64url"),
);
const QUERY_TOKENS = 200;
/** An attempt is lost if another process takes the place first. */
const MAX_ATTEMPTS = MAX_PLACES;

export function createMarkers(list: SuppressionList, keys: readonly [LookupKeys, ...LookupKeys[]]): Markers {
  const [first] = keys;
  const markers = new Map(keys.map((each) => [each, PLACES.map((_, index) => each.markerOf(index + 1))]));
  const ownMarkers = [...markers.values()].flat();
  const firstMarkers = markers.get(first) ?? [];
  let checking: Promise<void> | null = null;
  let refusal: ServiceError | null = null;
  let taken = 0;
  let holdsFirst = false;

  /** Reads the taken places. @returns their number. Rejects if an unknown secret took one. */
  async function read(): Promise<number> {
    const present = await presentIn(list, [...PLACES, ...ownMarkers]);
    const places = PLACES.filter((place) => present.has(place)).length;
    const isHeld = (place: number, by: readonly string[]) => present.has(by[place] ?? "");
    for (let place = 0; place < places; place++) {
      if (![...markers.values()].some((own) => isHeld(place, own))) throw anotherSecret();
    }
    taken = places;
    holdsFirst = firstMarkers.slice(0, places).some((_, place) => isHeld(place, firstMarkers));
    return places;
  }

  /** Takes the next place for the first secret. {@link read} shows whether another process was first. */
  async function take(): Promise<void> {
    const [place, marker] = [PLACES[taken], firstMarkers[taken]];
    if (place === undefined || marker === undefined) throw tooManySecrets();
    await list.claim(place, [marker]);
  }

  async function run(): Promise<void> {
    taken = 0;
    for (let attempt = 0; (await read()) === 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw notKept();
      if ((await list.count()) === 0) await take();
      // Otherwise another process has taken a place since.
      else if ((await read()) === 0) throw anotherSecret();
    }
  }

  function check(): Promise<void> {
    if (refusal !== null) return Promise.reject(refusal);
    if (checking === null) {
      const attempt = run();
      checking = attempt;
      attempt.catch((error) => {
        checking = null;
        if (isServiceError(error, "host_misuse")) refusal ??= error;
      });
    }
    return checking;
  }

  return {
    check,
    async claim() {
      await check();
      for (let attempt = 0; !holdsFirst; attempt++) {
        if (attempt === MAX_ATTEMPTS) throw notKept();
        await take();
        await read();
      }
    },
    watched: () => PLACES.slice(Math.max(0, taken - 1), taken + 1),
    isCurrent(present) {
      const isSame = present.has(PLACES[taken - 1] ?? "") && !present.has(PLACES[taken] ?? "");
      if (!isSame) checking = null;
      return isSame;
    },
    count: async () => (await presentIn(list, [...PLACES, ...ownMarkers])).size,
  };
}

/** The subset of any number of tokens that is in a list. */
export async function presentIn(
  list: SuppressionList,
  tokens: readonly string[],
): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(tokens)];
  if (distinct.length <= QUERY_TOKENS) return list.present(distinct);
  const batches = Array.from({ length: Math.ceil(distinct.length / QUERY_TOKENS) }, (_, index) =>
    distinct.slice(index * QUERY_TOKENS, (index + 1) * QUERY_TOKENS),
  );
  const found = await Promise.all(batches.map((batch) => list.present(batch)));
  return new Set(found.flatMap((each) => [...each]));
}

/**
 * Whether tokens exported from one list may be added to another: in both lists, every shared place must be
 * marked by the same secret. If two secrets shared a place, a process that knows one of them would miss the
 * other's entries.
 */
export async function haveSameMarkers(list: SuppressionList, tokens: readonly string[]): Promise<boolean> {
  const shared = await presentIn(list, tokens);
  const places = PLACES.filter((place) => shared.has(place));
  // Each place has a token and a marker.
  return shared.size >= 2 * places.length;
}

function anotherSecret(): ServiceError {
  return new ServiceError(
    "host_misuse",
    "The suppressions in this database were made with another secret, without which suppressed people would appear in answers. Set that secret, or add it to the list: secret: [current, other].",
  );
}

function notKept(): ServiceError {
  return new ServiceError(
    "store_unavailable",
    "The suppression list does not store what is added to it: check its database",
  );
}

function tooManySecrets(): ServiceError {
  return new ServiceError(
    "host_misuse",
    `The suppressions in this database were made with ${MAX_PLACES} secrets, the maximum. Put one of those first.`,
  );
}
