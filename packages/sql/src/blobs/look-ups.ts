import { ServiceError } from "@outrigger/core";
import type { BlobConnection } from "./blob-connection.ts";
import { partOf } from "./blob-statements.ts";

/** A blob as it was read. */
export interface FoundBlob {
  revision: string;
  bytes: Buffer;
}

interface Wanted {
  key: string;
  signal: AbortSignal | undefined;
  /** When it was requested, by the monotonic clock. */
  atMs: number;
  resolve: (found: FoundBlob | undefined) => void;
  reject: (error: unknown) => void;
}

/** Statements under way. Further look-ups wait for one of them and share the next one. */
const STATEMENTS = 2;
/** Look-ups of one statement. */
const MOST = 100;

/** Looks up a blob. An aborted look-up may never settle: the caller has rejected it. */
export type LookUp = (key: string, signal?: AbortSignal) => Promise<FoundBlob | undefined>;

/**
 * Looks up blobs by their keys. Most of the CPU time of a look-up is spent on a statement as such, so under load several share
 * one. Each begins after its call, and so finds what was acknowledged before.
 * @param timeoutMs Longest wait for a statement to begin.
 */
export function createLookUps(connection: BlobConnection, timeoutMs: number): LookUp {
  // The lateral subquery makes the server look up key by key, in one partition each, whatever it knows of the tables.
  const together = `SELECT wanted.at::int AS at, found.revision, found.bytes
    FROM unnest(string_to_array($1, ',')::smallint[], string_to_array($2, ',')) WITH ORDINALITY AS wanted (part, key, at),
    LATERAL (SELECT revision, bytes FROM ${connection.tables.blobs} AS blob
      WHERE blob.part = wanted.part AND blob.key = wanted.key LIMIT 1) AS found`;
  const waiting: Wanted[] = [];
  let running = 0;

  async function run(all: readonly Wanted[]): Promise<void> {
    try {
      const found = await find(all.map(({ key }) => key));
      for (const [at, { resolve }] of all.entries()) resolve(found[at]);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  async function find(keys: readonly string[]): Promise<(FoundBlob | undefined)[]> {
    const [first = "", ...others] = keys;
    if (others.length === 0)
      return [await connection.first<FoundBlob>(connection.statementsFor(first).get, [first])];
    const rows = await connection.all<FoundBlob & { at: number }>(together, [
      keys.map(partOf).join(),
      keys.join(),
    ]);
    const found: (FoundBlob | undefined)[] = keys.map(() => undefined);
    for (const { at, revision, bytes } of rows) found[at - 1] = { revision, bytes };
    return found;
  }

  /** The next look-ups, without aborted ones, and those that waited too long because the server is slower than the requests. */
  function takeNext(): Wanted[] {
    const next: Wanted[] = [];
    for (let wanted = waiting.shift(); wanted !== undefined; wanted = waiting.shift()) {
      if (wanted.signal?.aborted) continue;
      if (performance.now() - wanted.atMs >= timeoutMs) {
        wanted.reject(new ServiceError("store_unavailable", "The database did not answer in time."));
      } else if (next.push(wanted) === MOST) break;
    }
    return next;
  }

  function start(): void {
    if (running === STATEMENTS) return;
    const next = takeNext();
    if (next.length === 0) return;
    running++;
    void run(next).then(() => {
      running--;
      start();
    });
  }

  return (key, signal) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, signal, atMs: performance.now(), resolve, reject });
      start();
    });
}
