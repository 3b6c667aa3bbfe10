/** A file at an http or https URL, which the service fetches if its option `importUrls` permits it. */
export interface UrlSource {
  url: string | URL;
}

/** Name of a `Blob` without a name. */
const NAMELESS = "untitled";
const ANY_TYPE = "application/octet-stream";

/** A `Blob` with the name and the type that are sent. The service detects an empty type from the bytes. */
export function fileOf(blob: Blob, fileName: string | undefined): File {
  const ownName = "name" in blob && typeof blob.name === "string" ? blob.name : "";
  const name = fileName || ownName || NAMELESS;
  const lastModified = "lastModified" in blob ? Number(blob.lastModified) : undefined;
  return new File([blob], name, {
    type: blob.type || ANY_TYPE,
    ...(lastModified !== undefined && { lastModified }),
  });
}
