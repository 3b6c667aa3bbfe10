/**
 * How the keys of a store are called in Redis. The first segment of a blob's key is the hash tag of all that belongs to it:
 * so all of an image lies in one slot of a cluster, where a script may work on it as one.
 */
export interface BlobNames {
  /** The hash that says what a blob is. */
  head(key: string): string;
  /** The sorted set of the keys that begin with a first segment. */
  index(key: string): string;
  /** What the names of a blob's pieces begin with, before its revision. */
  pieces(key: string): string;
  piece(key: string, revision: string, index: number): string;
  /** What names of heads begin with, before the key, for keys of the first segment of `key`. */
  heads(key: string): string;
  /** The lease of a key. */
  lease(key: string): string;
  /** The pattern of all indexes. */
  readonly indexes: string;
  /** The first segment whose index is called `name`. */
  segmentOf(name: string): string;
  /** The sorted set of a list of what is due. */
  due(list: string): string;
  /** One of several that are such a list together, each in a slot of its own. */
  duePart(list: string, part: number): string;
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
    // A colon is in no segment, so this is nobody's tag.
    due: (list) => `${prefix}:{due:${list}}`,
    duePart: (list, part) => `${prefix}:{due:${list}:${part}}`,
  };
}
