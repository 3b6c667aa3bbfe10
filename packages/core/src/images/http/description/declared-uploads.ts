import type { ApiHeader, ApiParameter } from "../../../openapi/document.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";
import { tooLarge } from "./declared-api.ts";
import * as parameters from "./image-parameters.ts";
import type { DeclaredOperation, ImageFacts } from "./image-path.ts";
import { CREATED_REF } from "./image-schemas.ts";

const { examples: _, ...ID_SCHEMA } = { ...IMAGE_ID_SCHEMA, description: "Secret ID of an upload." };
const ID: ApiParameter = { name: "upload", in: "path", required: true, schema: ID_SCHEMA };
const CONTENT = { "application/offset+octet-stream": { schema: {} } };
const CREATED =
  "With the last byte, the headers are those of a create, such as `Location` and `X-Service-Image-Pin`; 202 if the image is still processed.";

function requestHeader(name: string, description: string, pattern?: string): ApiParameter {
  const schema = pattern === undefined ? { type: "string" } : { type: "string", pattern };
  return { name, in: "header", required: name !== "Upload-Metadata", description, schema } as ApiParameter;
}

const TUS = requestHeader("Tus-Resumable", "The version of the protocol.", "^1\\.0\\.0$");

function replyHeaders(...names: readonly string[]): Record<string, ApiHeader> {
  const known = Object.fromEntries(names.map((name) => [name, { schema: { type: "string" } } as const]));
  return { ...known, ...headersOf("Cache-Control") };
}

/** `POST {base}/api/uploads` */
export function beginUploadOperation(facts: ImageFacts): DeclaredOperation {
  return {
    operationId: "beginUpload",
    tag: "Images",
    summary: "Begin an upload in pieces",
    description:
      "The creation of tus 1.0 (https://tus.io), for clients of that protocol. A body, if there is one, is the first piece.",
    parameters: [
      TUS,
      requestHeader("Upload-Length", "Bytes of the whole file.", "^\\d{1,15}$"),
      requestHeader(
        "Upload-Metadata",
        "Names with values in base64: `filename`, `filetype`, and the fields of a form.",
      ),
      ...parameters.requestHeaders("User-Agent"),
      parameters.NAME,
      parameters.expiresAt(facts),
      parameters.FOCUS,
    ],
    replies: {
      201: {
        description: "The address of the upload.",
        headers: { ...headersOf("Location"), ...replyHeaders("Tus-Resumable", "Upload-Offset") },
      },
    },
    refusals: [412, 413, 415, 507],
    why: {
      ...WHY,
      413: tooLarge(facts),
      415: "`filetype` is not accepted, or the first bytes are of another type.",
      429: "too many requests in a minute, or too many unfinished uploads.",
    },
  };
}

const WHY = { 412: "`Tus-Resumable` is not 1.0.0." } as const;
const GONE = { ...WHY, 404: "there is no such upload, or it has expired." } as const;

/** `HEAD {base}/api/uploads/{upload}` */
export function readUploadOperation(): DeclaredOperation {
  return {
    operationId: "readUpload",
    tag: "Images",
    summary: "Ask how much of an upload is stored",
    parameters: [TUS, ID],
    replies: {
      200: {
        description: `How much is stored. ${CREATED}`,
        headers: replyHeaders("Tus-Resumable", "Upload-Offset", "Upload-Length"),
      },
    },
    refusals: [404, 412, 415, 423],
    why: { ...GONE, 415: "the complete file is refused." },
  };
}

/** `PATCH {base}/api/uploads/{upload}` */
export function sendPieceOperation(): DeclaredOperation {
  return {
    operationId: "sendPiece",
    tag: "Images",
    summary: "Send the next piece of an upload",
    description: CREATED,
    parameters: [TUS, requestHeader("Upload-Offset", "Bytes that are stored already.", "^\\d+$"), ID],
    requestBody: { required: true, content: CONTENT },
    replies: {
      202: {
        description: "The upload is complete, and the image is still processed.",
        headers: {
          ...headersOf("Location", "Retry-After"),
          ...replyHeaders("Tus-Resumable", "Upload-Offset"),
        },
        content: { "application/json": { schema: CREATED_REF } },
      },
      204: { description: "The piece is stored.", headers: replyHeaders("Tus-Resumable", "Upload-Offset") },
    },
    refusals: [404, 409, 412, 423, 507],
    why: {
      ...GONE,
      409: "`Upload-Offset` is not what is stored.",
      413: "the piece is longer than the upload.",
    },
  };
}

/** `DELETE {base}/api/uploads/{upload}` */
export function endUploadOperation(): DeclaredOperation {
  return {
    operationId: "endUpload",
    tag: "Images",
    summary: "Forget an upload",
    description: "An image that it became stays.",
    parameters: [TUS, ID],
    replies: { 204: { description: "The upload is forgotten.", headers: {} } },
    refusals: [404, 412, 423],
    why: GONE,
  };
}
