import type { ApiHeader, ApiParameter } from "../../../openapi/document.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";
import { DENIED, tooLarge } from "./declared-api.ts";
import * as parameters from "./image-parameters.ts";
import type { DeclaredOperation, ImageFacts } from "./image-path.ts";
import { CREATED_REF } from "./image-schemas.ts";

const { description: _, ...ID_SCHEMA } = IMAGE_ID_SCHEMA;
const ID: ApiParameter = {
  ...{ name: "upload", in: "path", required: true, schema: ID_SCHEMA },
  description: "Secret ID of the upload.",
};

function requestHeader(name: string, description: string, pattern = ""): ApiParameter {
  return { name, in: "header", required: pattern !== "", description, schema: { type: "string", pattern } };
}

const TUS = requestHeader("Tus-Resumable", "The version of the protocol.", "^1\\.0\\.0$");
const COMPLETE =
  "With the last byte, it has the headers of a create too, and is 202 if the image is still processed.";

/** Headers of every reply, and others as text. */
function replyHeaders(...names: readonly string[]): Record<string, ApiHeader> {
  const texts = ["Tus-Resumable", ...names].map((name) => [name, { schema: { type: "string" } } as const]);
  return { ...Object.fromEntries(texts), ...headersOf("Cache-Control") };
}

const WHY = {
  404: "there is no such upload, or it has expired.",
  409: "`Upload-Offset` is not what is stored.",
  412: "`Tus-Resumable` is not 1.0.0.",
  413: "the piece is longer than the rest of the file.",
  415: "the type of the file is not accepted, or its bytes are of another type.",
};

/** `POST {base}/api/uploads` */
export function beginUploadOperation(facts: ImageFacts): DeclaredOperation {
  const headers = { ...headersOf("Location"), ...replyHeaders("Upload-Offset", "Upload-Expires") };
  return {
    ...{ operationId: "beginUpload", summary: "Begin an upload in pieces" },
    description: "Creation by tus 1.0 (https://tus.io), for its clients. A body is the first piece.",
    parameters: [
      ...[TUS, requestHeader("Upload-Length", "Bytes of the whole file.", "^\\d{1,15}$")],
      requestHeader("Upload-Metadata", "`filename`, `filetype` and fields of a form, in base64."),
      ...parameters.requestHeaders("User-Agent"),
      ...[
        parameters.NAME,
        parameters.DESCRIPTION,
        parameters.expiresAt(facts),
        parameters.FOCUS,
        parameters.TICKET,
      ],
    ],
    replies: { 201: { description: "`Location` is the address of the upload.", headers } },
    refusals: [412, 413, 415, 451, 507],
    why: {
      ...WHY,
      413: tooLarge(facts),
      451: DENIED,
      429: "too many requests, or too many unfinished uploads.",
    },
  };
}

/** `HEAD {base}/api/uploads/{upload}` */
export function readUploadOperation(): DeclaredOperation {
  const headers = replyHeaders("Upload-Offset", "Upload-Length");
  return {
    ...{ operationId: "readUpload", summary: "Ask how much of an upload is stored" },
    parameters: [TUS, ID, parameters.TICKET],
    replies: { 200: { description: `How much is stored. ${COMPLETE}`, headers } },
    refusals: [404, 412, 415, 423],
    why: { ...WHY, 423: "another request is using the upload, or its state is not at hand." },
  };
}

/** `PATCH {base}/api/uploads/{upload}` */
export function sendPieceOperation(): DeclaredOperation {
  const headers = replyHeaders("Upload-Offset");
  const content = { "application/json": { schema: CREATED_REF } };
  return {
    ...{ operationId: "sendPiece", summary: "Send the next piece of an upload" },
    description: COMPLETE,
    parameters: [
      ...[TUS, requestHeader("Upload-Offset", "Bytes that are stored already.", "^\\d+$")],
      ...[ID, parameters.TICKET],
    ],
    requestBody: { required: true, content: { "application/offset+octet-stream": { schema: {} } } },
    replies: {
      201: {
        description:
          "The upload is complete. Without `Accept: application/json`: 204. Repeated for a day, with the PIN unless by a ticket.",
        headers,
        content,
      },
      202: {
        description: "The upload is complete, and its image is processed or held for review.",
        headers,
        content,
      },
      204: { description: "The piece is stored.", headers },
    },
    refusals: [404, 409, 412, 423, 451, 507],
    why: { ...WHY, 451: DENIED },
  };
}

/** `DELETE {base}/api/uploads/{upload}` */
export function endUploadOperation(): DeclaredOperation {
  return {
    ...{ operationId: "endUpload", summary: "Forget an upload" },
    description: "An image that it became stays.",
    parameters: [TUS, ID, parameters.TICKET],
    replies: { 204: { description: "The upload is forgotten.", headers: {} } },
    refusals: [404, 412, 423],
    why: WHY,
  };
}
