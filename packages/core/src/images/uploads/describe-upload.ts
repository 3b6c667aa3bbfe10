import type { Call, SpooledFile, Upload } from "../../contracts/call.ts";
import type { OriginalType } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { parseAgent } from "../../http/agent.ts";
import type { OwnerGrant } from "../http/permissions.ts";
import type { ImageSettings } from "../image-settings.ts";
import { declaredOriginalType } from "../record/formats.ts";
import { nameOfFile, parseExpiry, parseName } from "../record/image-fields.ts";
import { createImageId } from "../record/image-id.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { sniffType } from "../record/sniff.ts";

/** Name of the form's file field. */
export const FILE_FIELD = "imagedata";

/** The record of an upload as far as its head and the request tell; throws what is wrong with them. */
export function describeUpload(
  settings: ImageSettings,
  call: Call,
  { file, fields }: Upload,
  { userAgent, grant }: { userAgent: string; grant: OwnerGrant | null },
): ImageRecord {
  const now = settings.now();
  const query = new URLSearchParams(call.search);
  const name = parseName(fields.name) ?? parseName(query.get("name")) ?? nameOfFile(file.name);
  const expiresAt =
    parseExpiry(fields.expiresAt, "form", now, settings) ??
    parseExpiry(query.get("expiresAt"), "query", now, settings) ??
    now + settings.defaultLifetimeMs;
  return {
    id: createImageId(),
    name,
    type: requireType(file),
    size: file.size,
    sha256: file.sha256,
    width: null,
    height: null,
    pages: null,
    agent: parseAgent(userAgent),
    owner: grant === null ? null : { name: grant.owner, bytes: file.size },
    createdAt: now,
    updatedAt: now,
    expiresAt,
    gone: null,
    withheld: null,
    processing: null,
    failure: null,
  };
}

/** The declared type must be one that we take, and the bytes must be of it. */
function requireType({ declaredType, head }: SpooledFile): OriginalType {
  const declared = declaredOriginalType(declaredType);
  if (declared === undefined) {
    throw new ServiceError(
      "unsupported_media",
      `${FILE_FIELD} must be PNG, JPEG, GIF, SVG, PSD or PDF, declared by its Content-Type`,
    );
  }
  const actual = sniffType(head, declared === "any" ? undefined : declared);
  if (actual === null) {
    throw new ServiceError(
      "unsupported_media",
      `${FILE_FIELD} is not a PNG, JPEG, GIF, SVG, PSD or PDF file`,
    );
  }
  if (declared !== "any" && declared !== actual) {
    throw new ServiceError("unsupported_media", `${FILE_FIELD} is declared as ${declared}, but is ${actual}`);
  }
  return actual;
}
