import { bytesText, durationText } from "../../../amounts.ts";
import { MAX_URL_LENGTH } from "../../../http/remote/remote-policy.ts";
import type { ApiRequestBody } from "../../../openapi/document.ts";
import { type JsonSchema, optionalField, optionalText } from "../../../schema/json-schema.ts";
import { MAX_TICKET_MS } from "../../library/upload-tickets.ts";
import { type AddressFormat, CONVERTIBLE, ORIGINAL_TYPES, TYPE_ALIASES } from "../../record/formats.ts";
import {
  DESCRIPTION_SCHEMA,
  expirySchemas,
  NAME_SCHEMA,
  NEVER,
  NEW_NAME_SCHEMA,
} from "../../record/image-fields.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";
import { POINT_SCHEMA, POINT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import { FORM_SCHEMAS, JSON_SCHEMAS } from "../../renditions/read-parameters.ts";
import { REPORT_SCHEMAS } from "../../reports/report-case.ts";
import { FILE_FIELD, URL_FIELD } from "../receive-image.ts";
import { expiryText, FOCUS_TEXT, renditionSchemas } from "./image-parameters.ts";
import type { ImageFacts } from "./image-path.ts";

type Fields = Readonly<Record<string, JsonSchema>>;

const FOCUS_DEFAULT = `${FOCUS_TEXT} Default: none; the centre.`;

/** The body of `POST {base}/api/images.json`: the file, or its address where imports are on. */
export function uploadBody(facts: ImageFacts): ApiRequestBody {
  const orNever = facts.maxLifetimeMs === null ? `, or \`${NEVER}\`` : "";
  const expiry = `When the image expires: an ISO 8601 date with a zone, or Unix time in milliseconds${orNever}; ${lifetimeText(facts)}`;
  const schemas = expirySchemas(facts);
  const form = multipartBody(
    `${fileText(facts)} Its Content-Type must be that type. Without one, or with a vague one such as \`application/octet-stream\`, the bytes decide.`,
    {
      description: DESCRIPTION_SCHEMA,
      expiresAt: {
        ...optionalText(schemas.form),
        description: `${expiry} An empty value counts as absent.`,
      },
      focus: { ...optionalText(POINT_TEXT_SCHEMA), description: FOCUS_DEFAULT },
    },
    [
      ...[...ORIGINAL_TYPES, ...TYPE_ALIASES.keys()],
      ...facts.convertUploads.flatMap((name) => CONVERTIBLE[name]),
      "application/octet-stream",
    ],
  );
  if (!facts.importsUrls) return form;
  const byUrl: JsonSchema = {
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
      name: nameField("the file name in the reply to the fetch, or the end of the URL"),
      description: optionalField(DESCRIPTION_SCHEMA),
      expiresAt: { ...schemas.json, description: expiry },
      focus: { anyOf: [POINT_SCHEMA, POINT_TEXT_SCHEMA], description: FOCUS_DEFAULT },
    },
    required: [URL_FIELD],
  };
  return { ...form, content: { "application/json": { schema: byUrl }, ...form.content } };
}

/** The body of `POST {base}/api/tickets.json`. */
export function ticketBody(facts: ImageFacts): ApiRequestBody {
  const types = { type: "array", items: { type: "string" }, minItems: 1 } as const;
  const expiresIn = [{ type: "integer", minimum: 1000, maximum: MAX_TICKET_MS }, { type: "string" }] as const;
  const properties: Fields = {
    expiresIn: {
      anyOf: expiresIn,
      description: "1 second to 12 hours, in milliseconds or as `10m`, the default.",
    },
    maxBytes: {
      anyOf: [{ type: "integer", minimum: 1 }, { type: "string" }],
      description: `Bytes, or a size such as \`5MB\`. Default: ${facts.maxUploadBytes} (${bytesText(facts.maxUploadBytes)}), which also limits it.`,
    },
    types: { ...types, description: "Media types of the file. Default: all that are accepted." },
    name: nameField("the name in the upload, or its file name"),
    expiresAt: {
      ...expirySchemas(facts).json,
      description: `When the image expires, after the end of the ticket; ${lifetimeText(facts)}`,
    },
    pin: { type: "boolean", description: "Whether the reply to the upload has the PIN. Default: false." },
  };
  return {
    description: "The terms of the ticket, at most 16 KiB. Name and expiry replace those of the upload.",
    content: { "application/json": { schema: { type: "object", properties } } },
  };
}

function multipartBody(description: string, fields: Fields, types: readonly string[]): ApiRequestBody {
  const file: JsonSchema = { type: "string", format: "binary", description };
  const properties = { [FILE_FIELD]: file, name: nameField("the name of the file"), ...fields };
  return {
    required: true,
    content: {
      "multipart/form-data": {
        schema: { type: "object", properties, required: [FILE_FIELD] },
        encoding: { [FILE_FIELD]: { contentType: types.join(", ") } },
      },
    },
  };
}

function nameField(preset: string): JsonSchema {
  return { ...NAME_SCHEMA, description: `${NAME_SCHEMA.description} Default: ${preset}.` };
}

function fileText({ convertUploads, maxUploadBytes }: ImageFacts): string {
  const converted = convertUploads.map((name) => `, ${name.toUpperCase()}`).join("");
  return `The file, exactly one, at most ${bytesText(maxUploadBytes)}: PNG, JPEG, GIF, SVG, PSD or PDF${converted}.`;
}

function lifetimeText({ defaultLifetimeMs, maxLifetimeMs }: ImageFacts): string {
  const longest =
    maxLifetimeMs === null ? "without a limit" : `at most ${durationText(maxLifetimeMs)} from now`;
  return `${longest}. Default: ${defaultLifetimeMs === null ? NEVER : `${durationText(defaultLifetimeMs)} from now`}.`;
}

/** The parameters of a rendition. They take precedence over those of the query. */
export function renditionBody(facts: ImageFacts, format: AddressFormat): ApiRequestBody {
  const schemas = renditionSchemas(facts, format);
  const each = (change: (schema: JsonSchema) => JsonSchema, others: Fields): Fields =>
    Object.fromEntries(
      Object.entries({ ...schemas, ...others }).map(([name, schema]) => [name, change(schema)]),
    );
  return jsonOrForm(
    "The parameters (alternative to the query), at most 16 KiB.",
    each(optionalField, JSON_SCHEMAS),
    each(optionalText, FORM_SCHEMAS),
  );
}

const PIN_FIELD: JsonSchema = {
  type: "string",
  description: "The PIN (alternative to the header or the query).",
};

/** The body of a deletion. */
export function deletionBody(): ApiRequestBody {
  return jsonOrForm("The PIN (alternative to the header or the query).", { pin: PIN_FIELD });
}

/** The changes of a record. */
export function changeBody(facts: ImageFacts): ApiRequestBody {
  const schemas = expirySchemas(facts);
  return jsonOrForm(
    "The changes as a JSON object or a form, at most 16 KiB. A null `name` counts as absent.",
    {
      name: { ...NEW_NAME_SCHEMA, type: ["string", "null"] },
      description: optionalField(DESCRIPTION_SCHEMA),
      expiresAt: { anyOf: [schemas.json, { enum: [""] }], description: expiryText(facts) },
      focus: {
        anyOf: [POINT_SCHEMA, POINT_TEXT_SCHEMA, { enum: ["", null] }],
        description: `${FOCUS_TEXT} Null removes it.`,
      },
      pin: PIN_FIELD,
    },
    {
      name: NEW_NAME_SCHEMA,
      description: DESCRIPTION_SCHEMA,
      expiresAt: optionalText(schemas.form),
      focus: { ...optionalText(POINT_TEXT_SCHEMA), description: `${FOCUS_TEXT} An empty value removes it.` },
      pin: PIN_FIELD,
    },
  );
}

/** A report. */
export function reportBody(): ApiRequestBody {
  const { reason, statement, contact } = REPORT_SCHEMAS;
  const fields: Fields = { id: IMAGE_ID_SCHEMA, reason, statement, contact };
  const required = ["id", "reason"];
  const properties = { ...fields, statement: optionalField(statement), contact: optionalField(contact) };
  return {
    required: true,
    description: "A JSON object or a form, at most 64 KiB.",
    content: {
      "application/json": { schema: { type: "object", properties, required } },
      "application/x-www-form-urlencoded": { schema: { type: "object", properties: fields, required } },
    },
  };
}

/** A body as a JSON object or a form. @param texts The fields of the form. @default `values` */
function jsonOrForm(description: string, values: Fields, texts = values): ApiRequestBody {
  return {
    description,
    content: {
      "application/json": { schema: { type: "object", properties: values } },
      "application/x-www-form-urlencoded": { schema: { type: "object", properties: texts } },
    },
  };
}
