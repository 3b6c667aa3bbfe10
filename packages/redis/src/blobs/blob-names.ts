/**
 * Names of a store's keys in Redis. The first segment of a blob's key is the hash tag of every Redis key of the
 * blob. All keys of an image therefore lie in one slot of a cluster, where one script may change them atomically.
 */
export interface BlobNames {
  /** The hash that describes a blob. */
  head(key: string): string;
  /** The sorted set of all blob keys with the same first segment. */
  index(key: string): string;
  /** Prefix of the names of a blob's pieces; the revision follows. */
  pieces(key: string): string;
  piece(key: string, revision: string, index: number): string;
  /** Prefix of the names of heads, for all keys with the same first segment as `key`; the key follows. */
  heads(key: string): string;
  /** The key that holds a lease. */
  lease(key: string): string;
  /** The SCAN pattern that matches all indexes. */
  readonly indexes: string;
  /** The first segment whose index has this name. */
  segmentOf(name: string): string;
  /** The sorted set of a due list. */
  due(list: string): string;
}

export function createBlobNames(prefix: string): BlobNames {
  const tag = (key: string) => {
    const end = key.indexOf("/");
    return `${prefix}:{${end < 0 ? key : key.slice(0, end)}}`;
  };
  const heads = (key: string) => `${tag(key)}:b:`;
  const pieces = (key: string) => `${tag(key)}:p:${key}:`;
  return {
    head: (key) => `${heads(key)}${key}`,
    index: (key) => `${tag(key)}:i`,
    pieces,
    piece: (key, revision, index) => `${pieces(key)}${revision}:${index}`,
    heads,
    lease: (key) => `${tag(key)}:l:${key}`,
    indexes: `${prefix}:{*}:i`,
    segmentOf: (name) => name.slice(prefix.length + 2, -"}:i".length),
    // A segment contains no colon, so this tag never equals that of a blob.
    due: (list) => `${prefix}:{due:${list}}`,
  };
}
