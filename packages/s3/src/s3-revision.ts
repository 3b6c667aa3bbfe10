import { ServiceError } from "@outrigger/core";

/** The parts of a revision. */
export interface Revision {
  /** ETag of the object, without quotes. It is unique to one write, as every object ends with random bytes. */
  etag: string;
  /**
   * Lineage: common to all blobs that replaced each other by compare-and-set, back to the one that was created. It
   * is kept in the object's metadata; empty if the metadata was lost.
   */
  lineage: string;
}

/** Name of the lineage in an object's metadata. */
export const LINEAGE = "outrigger-lineage";

/**
 * Name of the CRC-32 of the blob in an object's metadata, in decimal. Services support different checksums of their own, or none.
 * An object that other tools copied may lack it.
 */
export const CHECKSUM = "outrigger-crc32";

// An ETag is not a wildcard or a list and has no blanks. Its length is bounded: Ceph compares only as much as
// its own length.
const REVISION = /^([A-Za-z0-9_:+/=-]{8,128})\.((?:[0-9a-f]{32})?)$/;

/** `null` for a text that is not a revision of this store. */
export function parseRevision(revision: string): Revision | null {
  const [, etag, lineage] = REVISION.exec(revision) ?? [];
  return etag === undefined || lineage === undefined ? null : { etag, lineage };
}

/** The revision in a response. */
export function revisionOf(output: {
  ETag?: string | undefined;
  Metadata?: Record<string, string> | undefined;
}): string {
  return `${etagOf(output.ETag)}.${output.Metadata?.[LINEAGE] ?? ""}`;
}

/** The ETag without quotes, which only some services send. */
export function etagOf(etag: string | undefined): string {
  const bare = etag?.replace(/^"|"$/g, "") ?? "";
  if (bare === "") throw new ServiceError("store_unavailable", "The object storage sent no ETag");
  return bare;
}
