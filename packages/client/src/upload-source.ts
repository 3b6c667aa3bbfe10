/** A file at an http or https URL, which the service fetches if its option `importUrls` permits it. */
export interface UrlSource {
  url: string | URL;
}

/** A `Blob` with the name and the type that are sent. The service detects an empty type from the bytes. */
export function fileOf(blob: Blob): File {
  const name = "name" in blob && typeof blob.name === "string" ? blob.name : "";
  const lastModified = "lastModified" in blob ? Number(blob.lastModified) : undefined;
  return new File([blob], name || "untitled", {
    type: blob.type || "application/octet-stream",
    ...(lastModified !== undefined && { lastModified }),
  });
}
