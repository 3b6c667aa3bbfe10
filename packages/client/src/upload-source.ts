/** Anything with bytes of known length: a `Blob`, a `File`, or what can be opened as often as it is sent. */
export type UploadSource = Blob | OpenableSource;

export interface OpenableSource {
  /** Of the file, without a path. */
  name: string;
  /** Media type, e.g. `"image/png"`; empty: by its bytes. */
  type: string;
  /** Bytes. */
  size: number;
  /** The bytes from the first on: called again for each try. What it throws, and what its stream fails with, ends the upload. */
  stream(): ReadableStream<Uint8Array>;
}

/** A name that says nothing, for what has none. */
const NAMELESS = "untitled";
const ANY_TYPE = "application/octet-stream";

/** How a source is announced. */
export interface SourceDescription {
  fileName: string;
  type: string;
  /** Bytes. */
  size: number;
}

/** Throws a TypeError for a size or a type that is none. */
export function describeSource(source: UploadSource, fileName: string | undefined): SourceDescription {
  const { type, size } = source;
  if (!Number.isSafeInteger(size) || size < 0) throw new TypeError("size must be a whole number of bytes");
  if (/[^ -~]/.test(type)) throw new TypeError("type must be a media type, such as image/png");
  const ownName = "name" in source && typeof source.name === "string" ? source.name : "";
  return { fileName: fileName || ownName || NAMELESS, type: type || ANY_TYPE, size };
}

/** The bytes as a `Blob`, for a browser, which may keep them on disk. */
export async function blobOf(source: UploadSource, type: string): Promise<Blob> {
  if (source instanceof Blob) return source.type === "" ? source.slice(0, source.size, type) : source;
  const blob = await new Response(source.stream()).blob();
  requireSize(blob.size, source.size);
  return blob.slice(0, blob.size, type);
}

/** Throws where a source gave more or fewer bytes than it said: the file may have changed meanwhile. */
export function requireSize(givenBytes: number, size: number): void {
  if (givenBytes !== size) throw new Error(`The source gave ${givenBytes} bytes and said ${size}`);
}
