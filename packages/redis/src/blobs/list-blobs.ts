import { badCursor, checkListing, isBlobKey, type KeyPage, type ListOptions } from "@outrigger/core/stores";
import { listKeys } from "./blob-scripts.ts";
import type { BlobSpace } from "./blob-space.ts";

/** Number of first segments whose keys are requested at once. */
const SEGMENTS_AT_ONCE = 16;
/**
 * Number of Redis keys that one SCAN examines. Each may be a first segment, which the cursor must then hold.
 */
const SCAN_COUNT = 200;

/** Progress of a listing of the whole store. */
interface Progress {
  /** ID of the node that is being scanned. */
  node: string;
  /** Cursor of the next SCAN on that node; `null` when the node is done. */
  scan: string | null;
  /** First segments that were found but not yet listed. */
  segments: string[];
  /** The last listed key of the first of these segments; empty if none was listed. */
  after: string;
}

export async function listBlobs(
  space: BlobSpace,
  prefix: string,
  { cursor, limit = 1000 }: ListOptions,
): Promise<KeyPage> {
  checkListing(prefix, limit);
  if (prefix === "") return await listAll(space, cursor, limit);
  if (cursor !== undefined && !(isBlobKey(cursor) && cursor.startsWith(prefix))) throw badCursor();
  const keys = await keysOf(space, prefix, cursor ?? "", limit + 1);
  const page = keys.slice(0, limit);
  const last = page.at(-1);
  return keys.length > limit && last !== undefined ? { keys: page, cursor: last } : { keys: page };
}

/**
 * At most `limit` keys after `after`, in order. `prefix` is a prefix that ends in `/`, or a whole first
 * segment.
 */
async function keysOf(space: BlobSpace, prefix: string, after: string, limit: number): Promise<string[]> {
  // "0" comes right after "/".
  const end = prefix.endsWith("/") ? `(${prefix.slice(0, -1)}0` : "+";
  const start = after === "" ? (prefix.endsWith("/") ? `[${prefix}` : "-") : `(${after}`;
  const { names, connection } = space;
  const reply = await connection.run(
    listKeys,
    [names.index(prefix)],
    [names.heads(prefix), start, end, String(limit)],
  );
  return (reply as Buffer[]).map(String); // The reply of the script.
}

/**
 * SCAN returns every key that exists during the whole scan, in batches of any length. Segments of a batch that do
 * not fit on the page are stored in the cursor by name: scanning the same batch again could return other segments.
 */
async function listAll(space: BlobSpace, cursor: string | undefined, limit: number): Promise<KeyPage> {
  let progress = cursor === undefined ? undefined : readCursor(cursor);
  const nodes = await space.connection.nodes();
  let at = nodes.findIndex(({ id }) => id === progress?.node);
  if (at < 0) {
    // The first page, or the node has left the cluster with keys that are unknown: start from the beginning.
    at = 0;
    progress = undefined;
  }
  const keys: string[] = [];
  let { scan, segments, after }: Omit<Progress, "node"> = progress ?? { scan: "0", segments: [], after: "" };
  for (;;) {
    while (segments.length > 0) {
      const room = limit - keys.length;
      const some = segments.slice(0, SEGMENTS_AT_ONCE);
      const found = await Promise.all(
        some.map((segment, index) => keysOf(space, segment, index === 0 ? after : "", room + 1)),
      );
      for (const [index, list] of found.entries()) {
        const taken = list.slice(0, limit - keys.length);
        keys.push(...taken);
        if (taken.length < list.length) {
          const last = taken.at(-1) ?? (index === 0 ? after : "");
          return {
            keys,
            cursor: writeCursor({
              node: nodes[at]?.id ?? "",
              scan,
              segments: segments.slice(index),
              after: last,
            }),
          };
        }
      }
      segments = segments.slice(some.length);
      after = "";
    }
    if (scan === null) {
      at += 1;
      scan = "0";
    }
    const node = nodes[at];
    if (node === undefined) return { keys };
    if (keys.length >= limit) return { keys, cursor: writeCursor({ node: node.id, scan, segments, after }) };
    const reply = await node.send(["SCAN", scan, "MATCH", space.names.indexes, "COUNT", String(SCAN_COUNT)]);
    const [next, names] = reply as [Buffer, Buffer[]]; // The reply of SCAN.
    scan = String(next) === "0" ? null : String(next);
    segments = names.map((name) => space.names.segmentOf(String(name)));
  }
}

function writeCursor({ node, scan, segments, after }: Progress): string {
  return [node, scan ?? "", after, ...segments].join(",");
}

function readCursor(cursor: string): Progress {
  const [node = "", scan = "", after = "", ...segments] = cursor.split(",");
  const isValid = /^\d*$/.test(scan) && segments.every(isBlobKey) && (after === "" || isBlobKey(after));
  if (!isValid || !cursor.includes(",")) throw badCursor();
  return { node, scan: scan === "" ? null : scan, segments, after };
}
