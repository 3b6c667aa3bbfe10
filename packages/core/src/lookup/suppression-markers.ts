import { createHash } from "node:crypto";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import type { LookupKeys } from "./lookup-keys.ts";

/**
 * Proves that a suppression list was made with known secrets.
 *
 * A list has places, numbered from 1. A place is a public token, and beside it stands a marker: the HMAC of its number by the
 * secret that took it. Every secret that entries were made with holds a place, so a process that cannot name the secret of
 * each place that is taken would miss entries, and must not answer. Places are never given back.
 */
export interface Markers {
  /**
   * Checks the list once, and marks it where it is new. Rejects with `host_misuse` for another secret, then and ever after; with
   * `store_unavailable` while the list is away, and checks again at the next call.
   */
  check(): Promise<void>;
  /** Has the first secret hold a place, so that entries can be added by it. */
  claim(): Promise<void>;
  /** Tokens to ask for in every query, for {@link isCurrent}. */
  watched(): readonly string[];
  /** Whether the places are those that were checked, by a query for {@link watched}. If not, the next check reads them again. */
  isCurrent(present: ReadonlySet<string>): boolean;
  /** How many tokens of the list are places and markers. */
  count(): Promise<number>;
}

/** Secrets that one list can have over its life. All places, and the markers of one secret, fit into one query. */
const MAX_PLACES = 16;
const PLACES = Array.from({ length: MAX_PLACES }, (_, index) =>
  createHash("sha256")
    .update(`outrigger lookup: place ${index + 1} of a suppression list`)
    .digest("base64url"),
);
const QUERY_TOKENS = 200;
/** Each is lost to another process that took the place. */
const MAX_ATTEMPTS = MAX_PLACES;

/**
 * @param mayAdopt Whether entries without any marker may be taken for this secret's: an earlier `createLookup` wrote none.
 */
export function createMarkers(
  list: SuppressionList,
  keys: readonly [LookupKeys, ...LookupKeys[]],
  mayAdopt: boolean,
): Markers {
  const [first] = keys;
  const markers = new Map(keys.map((each) => [each, PLACES.map((_, index) => each.markerOf(index + 1))]));
  const ownMarkers = [...markers.values()].flat();
  const firstMarkers = markers.get(first) ?? [];
  const oldMarkers = keys.map(({ oldMarker }) => oldMarker);
  let checking: Promise<void> | null = null;
  let refusal: ServiceError | null = null;
  let taken = 0;
  let holdsFirst = false;

  /** Reads which places are taken. @returns their number. Rejects where one is taken by an unknown secret. */
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

  /** Takes a place for each of `holders`, all or none. {@link read} shows whether another process was first. */
  async function take(holders: readonly LookupKeys[]): Promise<void> {
    const [place, ...others] = holders.flatMap((each, index) => [
      PLACES[taken + index] ?? "",
      markers.get(each)?.[taken + index] ?? "",
    ]);
    if (place === undefined || taken + holders.length > MAX_PLACES) throw tooManySecrets();
    await list.claim(place, others);
  }

  async function run(): Promise<void> {
    taken = 0;
    for (let attempt = 0; (await read()) === 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw notKept();
      const isEmpty = (await list.count()) === 0;
      if (!isEmpty && !mayAdopt && (await presentIn(list, oldMarkers)).size === 0) throw anotherSecret();
      // It is unknown with which of several secrets earlier releases made the entries.
      await take(isEmpty ? [first] : keys);
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
        await take([first]);
        await read();
      }
    },
    watched: () => PLACES.slice(Math.max(0, taken - 1), taken + 1),
    isCurrent(present) {
      const isSame = present.has(PLACES[taken - 1] ?? "") && !present.has(PLACES[taken] ?? "");
      if (!isSame) checking = null;
      return isSame;
    },
    count: async () => (await presentIn(list, [...PLACES, ...ownMarkers, ...oldMarkers])).size,
  };
}

/** Which of any number of tokens are in a list. */
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
 * Whether tokens that were exported from one list may be added to another: every place that both lists have is marked by the
 * same secret in both. Of two secrets under one place, a process would notice the one that it knows, and miss the other's entries.
 */
export async function haveSameMarkers(list: SuppressionList, tokens: readonly string[]): Promise<boolean> {
  const shared = await presentIn(list, tokens);
  const places = PLACES.filter((place) => shared.has(place));
  // A place and its marker each.
  return shared.size >= 2 * places.length;
}

function anotherSecret(): ServiceError {
  return new ServiceError(
    "host_misuse",
    "The suppressions in this database were made with another secret, without which suppressed people would be named. Give that secret, or add it to the list: secret: [current, other].",
  );
}

function notKept(): ServiceError {
  return new ServiceError("store_unavailable", "The suppression list does not keep what is added to it.");
}

function tooManySecrets(): ServiceError {
  return new ServiceError(
    "host_misuse",
    `The suppressions in this database were made with ${MAX_PLACES} secrets, and cannot take another. Put one of those first.`,
  );
}
