import {
  abortable,
  type BlobInfo,
  type GetOptions,
  rangeWithin,
  type StoredBlob,
} from "@outrigger/core/stores";
import type { BlobSpace } from "./blob-space.ts";
import { lost, readPieces } from "./read-pieces.ts";

export async function getBlob(
  space: BlobSpace,
  key: string,
  { range, signal }: GetOptions,
): Promise<StoredBlob | null> {
  signal?.throwIfAborted();
  const name = space.names.head(key);
  let tried: string | undefined;
  for (;;) {
    const head = space.connection.call(name, ["HMGET", name, "revision", "size", "piece", "inline"]);
    const reply = (await abortable(head, signal)) as [Buffer, Buffer, Buffer, Buffer] | [null]; // The reply of HMGET.
    if (reply[0] === null) return null;
    const [revision, size, pieceBytes] = [String(reply[0]), Number(reply[1]), Number(reply[2])];
    const wanted = range === undefined ? { start: 0, end: size - 1 } : rangeWithin(range, size);
    if (pieceBytes === 0) {
      const inline = reply[3];
      const body = range === undefined ? inline : inline.subarray(wanted.start, wanted.end + 1);
      return { size, revision, body };
    }
    const body = await readPieces(space, { key, revision, pieceBytes, ...wanted }, signal);
    if (body !== null) return { size, revision, body };
    // The blob was replaced or deleted after its head was read and its pieces have expired since, or Redis
    // lost some.
    if (revision === tried) throw lost();
    tried = revision;
  }
}

export async function statBlob({ names, connection }: BlobSpace, key: string): Promise<BlobInfo | null> {
  const head = names.head(key);
  const reply = await connection.call(head, ["HMGET", head, "revision", "size"]);
  const [revision, size] = reply as [Buffer, Buffer] | [null, null]; // The reply of HMGET.
  return revision === null ? null : { size: Number(size), revision: String(revision) };
}
