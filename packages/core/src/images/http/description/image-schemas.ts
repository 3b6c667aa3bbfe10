import { MAX_PLACEHOLDER_LENGTH } from "../../../contracts/renderer.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { DOCUMENTED_FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { DESCRIPTION_SCHEMA, NAME_SCHEMA, NEVER } from "../../record/image-fields.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";
import { POINT_SCHEMA } from "../../record/picture-point.ts";
import { PIN_SCHEMA } from "../../record/pin.ts";

const uri = { type: "string", format: "uri" } as const;
const date = {
  type: "string",
  format: "date-time",
  pattern: "^\\d{4,}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
} as const;
const maybe = (description: string) => ({ type: ["string", "null"], description }) as const;
const pixels = { type: ["integer", "null"], minimum: 0 } as const;

export const RECORD_PROPERTIES = {
  id: IMAGE_ID_SCHEMA,
  name: { ...NAME_SCHEMA, description: "Display name of the image." },
  description: {
    ...DESCRIPTION_SCHEMA,
    ...maybe("Text for readers who do not see the image; null if there is none."),
  },
  type: { type: "string", enum: ORIGINAL_TYPES, description: "Media type of the original." },
  source: maybe("Media type of the upload, if it was converted to `type`; null if it was not."),
  warnings: {
    type: "array",
    items: { type: "string" },
    description:
      "What the original lacks of the upload: `colors_reduced`, `damage_repaired`, `depth_reduced`, `first_frame_only`, `first_page_only`, `hdr_reduced`, `metadata_removed`, `text_removed`.",
  },
  provenance: {
    type: ["boolean", "null"],
    enum: [true, null],
    description: "True if the upload had Content Credentials (C2PA); null if none were found.",
  },
  size: { type: "integer", minimum: 0, description: "Bytes of the original." },
  width: {
    ...pixels,
    description: "Width in pixels, upright. For a PDF: of its first page, at 2 pixels per point.",
  },
  height: { ...pixels, description: "Height in pixels, see `width`." },
  pages: { ...pixels, description: "Pages of a PDF, frames of an animation, else 1." },
  placeholder: {
    ...maybe("ThumbHash of the image in base64, to show before it loads; null if there is none."),
    maxLength: MAX_PLACEHOLDER_LENGTH,
  },
  color: { ...maybe("Average colour of the image; null if there is none."), pattern: "^#[0-9a-f]{6}$" },
  focus: {
    description:
      "The point that `fit=cover` keeps, in shares of width and height from the top left; null: the centre.",
    anyOf: [POINT_SCHEMA, { type: "null" }],
  },
  status: {
    type: "string",
    enum: ["ready", "processing", "held"],
    description:
      "`processing`: only this record can be read so far. `held`: likewise, until the host has reviewed the image; its life starts when it is accepted.",
  },
  agent: {
    description: "First product in the uploader's `User-Agent`; null if it has none.",
    anyOf: [
      {
        type: "object",
        properties: { name: { type: "string" }, version: { type: ["string", "null"] } },
        required: ["name", "version"],
      },
      { type: "null" },
    ],
  },
  createdAt: date,
  updatedAt: { ...date, description: "When name, description, expiry or focus last changed." },
  expiresAt: { ...date, type: ["string", "null"], description: "When the image expires; null: never." },
  url: {
    ...uri,
    description: "URL of the image: the viewer for browsers, the original for other clients.",
  },
  links: {
    type: "object",
    description: "Links to the image by format.",
    properties: Object.fromEntries(["json", ...DOCUMENTED_FORMATS].map((format) => [format, uri])),
    required: ["json", ...DOCUMENTED_FORMATS],
  },
} satisfies Readonly<Record<string, JsonSchema>>;

const IMAGE: JsonSchema = {
  type: "object",
  title: "Image",
  description: "The record of an image.",
  properties: RECORD_PROPERTIES,
  required: Object.keys(RECORD_PROPERTIES),
};

const CREATED: JsonSchema = {
  ...IMAGE,
  title: "Created image",
  description:
    "A new image, with its PIN and edit URL. Replies to a ticket lack both if it was made without `pin`, and if they are repeated.",
  properties: {
    ...RECORD_PROPERTIES,
    editUrl: { ...uri, description: "Page to edit the image. Contains the PIN." },
    pin: PIN_SCHEMA,
  },
};

const TICKET: JsonSchema = {
  type: "object",
  title: "Upload ticket",
  properties: {
    url: { ...uri, description: "Where to upload the image, as to `/api/images.json`. Keep it secret." },
    until: { ...date, description: "End of the ticket." },
  },
  required: ["url", "until"],
};

/** What a ticket fixes. Null: the upload decides. */
export const TICKET_TERMS: JsonSchema = {
  type: "object",
  title: "Terms of an upload ticket",
  properties: {
    until: { ...date, description: "End of the ticket." },
    expiresAt: maybe(`Expiry of the image: ISO 8601 in UTC, or \`${NEVER}\`.`),
    name: maybe("Name of the image."),
    types: { type: ["array", "null"], items: { type: "string" }, description: "Media types of the file." },
    maxBytes: { type: ["integer", "null"], minimum: 1, description: "Largest file in bytes." },
    used: { type: "boolean", description: "Whether it has become an image. Another file is refused then." },
  },
  required: ["until", "expiresAt", "name", "types", "maxBytes", "used"],
};

/** Not among the schemas by name: services without reports would have one that nothing uses. */
export const RECEIPT: JsonSchema = {
  type: "object",
  title: "Receipt of a report",
  properties: {
    id: IMAGE_ID_SCHEMA,
    reference: {
      type: "string",
      pattern: "^[2-9A-HJ-NP-Z]{10}$",
      description:
        "Names the report to the operator. Other reporters of the image have the same one until it is decided.",
    },
    dueAt: { ...date, description: "When the operator will have decided." },
    detail: { type: "string", description: "What happens next, for people." },
  },
  required: ["id", "reference", "dueAt", "detail"],
};

export const IMAGE_SCHEMAS = { Image: IMAGE, CreatedImage: CREATED, UploadTicket: TICKET } as const;

export const IMAGE_REF = { $ref: "#/components/schemas/Image" } as const;
export const TICKET_REF = { $ref: "#/components/schemas/UploadTicket" } as const;
export const CREATED_REF = { $ref: "#/components/schemas/CreatedImage" } as const;
