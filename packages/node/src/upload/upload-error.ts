import { ServiceError, type UploadLimits } from "@outrigger/core";
import { bytesText, isError } from "@outrigger/core/values";
import multer from "multer";

const PARSER_COMPLAINTS = new Set([
  "Unexpected end of form",
  "Unexpected end of file",
  "Malformed part header",
  "Multipart: Boundary not found",
  "Malformed content type",
]);

/**
 * Converts an error of multer or its multipart parser to a `ServiceError`. Returns any other error unchanged.
 */
export function toUploadError(error: unknown, limits: UploadLimits): unknown {
  if (error instanceof multer.MulterError) return fromMulter(error, limits);
  if (isError(error) && PARSER_COMPLAINTS.has(error.message)) {
    return new ServiceError("bad_request", `Malformed multipart body: ${error.message}`, { cause: error });
  }
  return error;
}

export function fileTooLarge(limits: UploadLimits): ServiceError {
  return new ServiceError("too_large", `The file is over the limit of ${bytesText(limits.maxFileBytes)}`);
}

/** Whether a part with this name may be the file. */
export function isFileField(name: string, fields: UploadLimits["fileFields"]): boolean {
  return fields === "any" || fields.includes(name);
}

/** @param misfit Why a part that could have been the file is none. */
export function noFile({ fileFields }: UploadLimits, misfit?: string): ServiceError {
  return new ServiceError("bad_request", misfit ?? `The body has no file${inPart(fileFields)}`);
}

export function notOneFile({ fileFields }: UploadLimits): ServiceError {
  const part = inPart(fileFields);
  return new ServiceError("bad_request", `The body must have exactly one file${part && `,${part}`}`);
}

/** Empty if any part may be the file. */
function inPart(fields: UploadLimits["fileFields"]): string {
  if (fields === "any") return "";
  return ` in a part named ${fields.map((name) => `"${name}"`).join(" or ")}`;
}

function fromMulter(error: multer.MulterError, limits: UploadLimits): ServiceError {
  switch (error.code) {
    case "LIMIT_FILE_SIZE":
      return fileTooLarge(limits);
    case "LIMIT_FILE_COUNT":
    case "LIMIT_UNEXPECTED_FILE":
      return notOneFile(limits);
    case "LIMIT_FIELD_VALUE":
      return new ServiceError("bad_request", `A text field is over ${bytesText(limits.maxFieldBytes)}`);
    case "LIMIT_FIELD_COUNT":
    case "LIMIT_PART_COUNT":
      return new ServiceError("bad_request", `The body has more than ${limits.maxFields} text fields`);
    default:
      return new ServiceError("bad_request", `Malformed multipart body: ${error.message}`, { cause: error });
  }
}
