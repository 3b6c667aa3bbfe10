/** Anything with bytes of known length: a `Blob`, a `File`, or a source that can be opened for each try. */
export type UploadSource = Blob | OpenableSource;

export interface OpenableSource {
  /** File name without a path. */
  name: string;
  /** Media type, e.g. `"image/png"`. If empty, the service detects it from the bytes. */
  type: string;
  /** Size in bytes. */
  size: number;
  /** Opens the bytes; called again for each try. An error that it throws, or of its stream, aborts the upload. */
  stream(): ReadableStream<Uint8Array>;
}

/** A file at an http or https URL, which the service fetches if its option `importUrls` permits it. */
export interface UrlSource {
  url: string | URL;
}

export function isUrlSource(source: UploadSource | UrlSource): source is UrlSource {
  return "url" in source && !("stream" in source);
}

/** Name of a source without a name. */
const NAMELESS = "untitled";
const ANY_TYPE = "application/octet-stream";

/** The metadata sent for a source; `size` is in bytes. Throws a TypeError for an invalid size or type. */
export function describeSource(source: UploadSource, fileName: string | undefined) {
  const { type, size } = source;
  if (!Number.isSafeInteger(size) || size < 0) throw new TypeError("size must be a whole number of bytes");
  if (/[^ -~]/.test(type)) throw new TypeError("type must be a media type, such as image/png");
  const ownName = "name" in source && typeof source.name === "string" ? source.name : "";
  return { fileName: fileName || ownName || NAMELESS, type: type || ANY_TYPE, size };
}

/** Reads the bytes into a `Blob`, which a browser may store on disk. */
export async function blobOf(source: UploadSource, type: string): Promise<Blob> {
  if (source instanceof Blob) return source.type === "" ? source.slice(0, source.size, type) : source;
  const blob = await new Response(source.stream()).blob();
  requireSize(blob.size, source.size);
  return blob.slice(0, blob.size, type);
}

/** Throws if the number of bytes differs from the announced size, e.g. because the file has changed. */
export function requireSize(givenBytes: number, size: number): void {
  if (givenBytes !== size)
    throw new Error(`The source returned ${givenBytes} bytes, but its size is ${size}`);
}
