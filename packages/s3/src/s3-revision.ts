import { ServiceError } from "@outrigger/core";

/** What a revision consists of. */
export interface Revision {
  /** The object's, without quotes. No two writes have the same: each object ends in random bytes of its own. */
  etag: string;
  /**
   * Of all blobs that took each other's place by compare-and-set, back to the one that was created. In the object's metadata;
   * empty where these were lost.
   */
  lineage: string;
}

/** The name of the lineage in an object's metadata. */
export const LINEAGE = "outrigger-lineage";

// An ETag is no wildcard, no list, and has no blanks; Ceph compares no more of it than its own length.
const REVISION = /^([A-Za-z0-9_:+/=-]{8,128})\.((?:[0-9a-f]{32})?)$/;

/** `null` for a text that is no revision of a blob here. */
export function parseRevision(revision: string): Revision | null {
  const [, etag, lineage] = REVISION.exec(revision) ?? [];
  return etag === undefined || lineage === undefined ? null : { etag, lineage };
}

/** The revision that a response tells. */
export function revisionOf(output: {
  ETag?: string | undefined;
  Metadata?: Record<string, string> | undefined;
}): string {
  return `${etagOf(output.ETag)}.${output.Metadata?.[LINEAGE] ?? ""}`;
}

/** Some services put an ETag in quotes, some do not. */
export function etagOf(etag: string | undefined): string {
  const bare = etag?.replace(/^"|"$/g, "") ?? "";
  if (bare === "") throw new ServiceError("store_unavailable", "The object storage tells no ETag");
  return bare;
}
