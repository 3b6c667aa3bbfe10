import { MAX_URL_LENGTH } from "../../../http/remote/remote-policy.ts";
import { USER_AGENT_SCHEMA } from "../../../http/request-headers.ts";
import type {
  ApiOperation,
  ApiParameter,
  ApiRequestBody,
  ApiResponse,
  PathItem,
} from "../../../openapi/document.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { headerParameter } from "../../../openapi/parameters.ts";
import { type JsonSchema, optionalText } from "../../../schema/json-schema.ts";
import { LOOSE_TYPES, ORIGINAL_TYPES, TYPE_ALIASES } from "../../record/formats.ts";
import { expirySchemas, NAME_SCHEMA, NEVER } from "../../record/image-fields.ts";
import { POINT_SCHEMA, POINT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import { IDEMPOTENCY_KEY_SCHEMA } from "../../uploads/claims.ts";
import { FILE_FIELD, URL_FIELD } from "../receive-image.ts";
import type { ImageFacts } from "./image-facts.ts";
import { expiresAt, FOCUS, FOCUS_TEXT, NAME } from "./image-parameters.ts";
import { everywhere, inOrder, OF_BODIES, ofHost, ofLimits, refusals } from "./image-refusals.ts";
import { CREATED_REF } from "./image-schemas.ts";

/** The header that every upload needs. */
export const USER_AGENT: ApiParameter = {
  ...headerParameter(
    "User-Agent",
    "Its first product and version are shown with the image.",
    USER_AGENT_SCHEMA,
  ),
  required: true,
};

/** `POST {base}/api/images.json` or `.txt`. */
export function createPath(facts: ImageFacts, suffix: "json" | "txt"): PathItem {
  return { post: createOperation(facts, suffix) };
}

function createOperation(facts: ImageFacts, suffix: "json" | "txt"): ApiOperation {
  const isText = suffix === "txt";
  const statuses = inOrder(
    ...[...everywhere(facts), ...ofHost(facts), ...OF_BODIES, ...ofLimits(facts, "creates")],
    ...([409, 500, 507] as const),
  );
  return {
    operationId: isText ? "createImageForText" : "createImage",
    tags: ["Images"],
    summary: isText ? "Upload an image (plain-text reply)" : "Upload an image",
    description:
      "Stores a picture or document. The PIN is returned only once. Keep it to edit or delete the image later." +
      (isText ? " The body is the image's URL and a line break; the headers contain the rest." : ""),
    parameters: [
      USER_AGENT,
      headerParameter(
        "Prefer",
        "`respond-async` requests an immediate 202; with `wait=<seconds>`, a 202 only if processing takes longer. Unknown preferences are ignored.",
        { examples: ["respond-async", "respond-async, wait=5"] },
      ),
      headerParameter(
        "Idempotency-Key",
        "Makes a request safe to repeat: for 24 hours, the same upload with the same key gets the first reply.",
        IDEMPOTENCY_KEY_SCHEMA,
      ),
      NAME,
      expiresAt(facts),
      FOCUS,
    ],
    security: [],
    requestBody: uploadBody(facts),
    responses: {
      "201": createdResponse(facts, suffix, "The image is stored and ready."),
      "202": acceptedResponse(facts, suffix),
      ...refusals(facts, isText ? "text" : "json", statuses, {
        ...(facts.importsUrls ? { 400: UNFETCHED } : {}),
        403:
          facts.authorize !== null
            ? "the connection is not secure, this client may not upload, a browser sent the request from another site, or its owner has reached a limit."
            : "the connection is not secure.",
        409: "the `Idempotency-Key` was used for another upload, or its first request is still running.",
        413: `the file has more than ${facts.maxUploadBytes} bytes. The rest of it stays unread, and the connection is closed.`,
        415: facts.importsUrls
          ? `the body is neither \`multipart/form-data\` nor JSON, or the file has a type that is not accepted, or its bytes are not of the declared type.`
          : `the body is not \`multipart/form-data\`, or \`${FILE_FIELD}\` has a type that is not accepted, or its bytes are not of the declared type.`,
      }),
    },
  };
}

const FOCUS_DEFAULT = `${FOCUS_TEXT} Default: none; the centre.`;

const UNFETCHED =
  "a header, a parameter or the body is invalid, or the file at `url` could not be fetched. The reply is the same for a server that does not exist, may not be contacted, does not answer, or answers with another status than 200.";

/** The file by its address, instead of its bytes. */
function urlSchema(expiry: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: {
      [URL_FIELD]: {
        type: "string",
        format: "uri",
        pattern: "^[Hh][Tt][Tt][Pp][Ss]?:",
        maxLength: MAX_URL_LENGTH,
        description:
          "An http or https URL without user name and password, from which the service fetches the file. Up to 5 redirects are followed.",
        examples: ["https://example.com/harbour.jpg"],
      },
      name: {
        ...NAME_SCHEMA,
        description: `${NAME_SCHEMA.description} Default: the file name in the reply to the fetch, or the end of the URL.`,
      },
      expiresAt: expiry,
      focus: { anyOf: [POINT_SCHEMA, POINT_TEXT_SCHEMA], description: FOCUS_DEFAULT },
    },
    required: [URL_FIELD],
  };
}

function uploadBody(facts: ImageFacts): ApiRequestBody {
  const orNever = facts.maxLifetimeMs === null ? `, or \`${NEVER}\`` : "";
  const expiry = `When the image expires: an ISO 8601 date with a zone, or Unix time in milliseconds${orNever}; ${lifetimeText(facts)}`;
  const schemas = expirySchemas(facts);
  const form = multipartBody(
    `${fileText(facts)} Its Content-Type must be that type. Without one, or with \`application/octet-stream\` or \`image/jpg\`, the bytes decide.`,
    {
      expiresAt: {
        ...optionalText(schemas.form),
        description: `${expiry} An empty value counts as absent.`,
      },
      focus: { ...optionalText(POINT_TEXT_SCHEMA), description: FOCUS_DEFAULT },
    },
    [...ORIGINAL_TYPES, ...TYPE_ALIASES.keys(), ...LOOSE_TYPES],
  );
  if (!facts.importsUrls) return form;
  const byUrl = urlSchema({ ...schemas.json, description: expiry });
  return { ...form, content: { "application/json": { schema: byUrl }, ...form.content } };
}

/** The body of the upload form. */
export function uploadFormBody(facts: ImageFacts): ApiRequestBody {
  return multipartBody(
    `${fileText(facts)} Its bytes decide about the type.`,
    {
      expiresIn: {
        type: "string",
        pattern: facts.maxLifetimeMs === null ? `^\\d{0,15}$|^${NEVER}$` : "^\\d{0,15}$",
        description: `Lifetime in milliseconds; ${lifetimeText(facts)} An empty value counts as absent.`,
      },
    },
    ["*/*"],
  );
}

function fileText({ maxUploadBytes }: ImageFacts): string {
  return `The file, exactly one, at most ${maxUploadBytes} bytes: PNG, JPEG, GIF, SVG, PSD or PDF.`;
}

function lifetimeText({ defaultLifetimeMs, maxLifetimeMs }: ImageFacts): string {
  const days = (ms: number) => {
    const count = Math.round((ms / 86_400_000) * 100) / 100;
    return count === 1 ? "1 day" : `${count} days`;
  };
  const longest = maxLifetimeMs === null ? "without a limit" : `at most ${days(maxLifetimeMs)} from now`;
  return `${longest}. Default: ${defaultLifetimeMs === null ? NEVER : `${days(defaultLifetimeMs)} from now`}.`;
}

function multipartBody(
  description: string,
  fields: Readonly<Record<string, JsonSchema>>,
  types: readonly string[],
): ApiRequestBody {
  return {
    required: true,
    content: {
      "multipart/form-data": {
        schema: {
          type: "object",
          properties: {
            [FILE_FIELD]: { type: "string", format: "binary", description },
            name: {
              ...NAME_SCHEMA,
              description: `${NAME_SCHEMA.description} Default: the name of the file.`,
            },
            ...fields,
          },
          required: [FILE_FIELD],
        },
        encoding: { [FILE_FIELD]: { contentType: types.join(", ") } },
      },
    },
  };
}

function createdResponse({ rules }: ImageFacts, suffix: "json" | "txt", description: string): ApiResponse {
  return {
    description,
    headers: {
      ...headersOf("Location", "Link", "Cache-Control"),
      ...headersOf(
        "X-Service-Image-Url",
        "X-Service-Image-Edit-Url",
        "X-Service-Image-Pin",
        "X-Service-Image-Id",
      ),
      ...(rules.creates === null ? {} : headersOf("RateLimit", "RateLimit-Policy")),
    },
    content:
      suffix === "json"
        ? { "application/json": { schema: CREATED_REF } }
        : { "text/plain": { schema: { type: "string", pattern: "^https?://\\S+\\n$" } } },
  };
}

function acceptedResponse(facts: ImageFacts, suffix: "json" | "txt"): ApiResponse {
  const { headers, ...others } = createdResponse(
    facts,
    suffix,
    "The image is still being processed. Its links return 202 until it is ready, and 404 if processing fails.",
  );
  return {
    ...others,
    headers: {
      ...headers,
      ...headersOf("Retry-After"),
      "Preference-Applied": {
        description: "Confirms that `Prefer: respond-async` was applied.",
        schema: { const: "respond-async" },
      },
    },
  };
}
