import type { BlobConnection } from "./blob-connection.ts";
import { partOf } from "./blob-statements.ts";

/** A blob as it was read. */
export interface FoundBlob {
  revision: string;
  bytes: Buffer;
}

interface Wanted {
  key: string;
  resolve: (found: FoundBlob | undefined) => void;
  reject: (error: unknown) => void;
}

/** Statements under way. Further look-ups wait for one of them and share the next one. */
const STATEMENTS = 2;
/** Look-ups of one statement. */
const MOST = 100;

/**
 * Looks up blobs by their keys. Most of the CPU time of a look-up is spent on a statement as such, so under load several share
 * one. Each begins after its call, and so finds what was acknowledged before.
 */
export function createLookUps(connection: BlobConnection): (key: string) => Promise<FoundBlob | undefined> {
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
      // Those that wait, too: behind a server that hangs, each of them would take as long again.
      for (const { reject } of [...all, ...waiting.splice(0)]) reject(error);
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

  function start(): void {
    if (running === STATEMENTS || waiting.length === 0) return;
    running++;
    void run(waiting.splice(0, MOST)).then(() => {
      running--;
      start();
    });
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      start();
    });
}
