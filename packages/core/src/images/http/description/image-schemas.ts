import type { JsonSchema } from "../../../schema/json-schema.ts";
import { DOCUMENTED_FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { NAME_SCHEMA } from "../../record/image-fields.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-id.ts";
import { PIN_SCHEMA } from "../../record/pin.ts";

const uri = { type: "string", format: "uri" } as const;
const date = {
  type: "string",
  format: "date-time",
  pattern: "^\\d{4,}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
} as const;
const pixels = { type: ["integer", "null"], minimum: 0 } as const;

const RECORD_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  id: IMAGE_ID_SCHEMA,
  name: { ...NAME_SCHEMA, description: "Name of the image, for people to read." },
  type: { type: "string", enum: ORIGINAL_TYPES, description: "Media type of the original." },
  size: { type: "integer", minimum: 0, description: "Bytes of the original." },
  width: { ...pixels, description: "Pixels, upright; of a PDF those of its first page at 2 a point." },
  height: { ...pixels, description: "As `width`." },
  pages: { ...pixels, description: "Pages of a PDF, frames of an animation, else 1." },
  status: {
    type: "string",
    enum: ["ready", "processing"],
    description: "`processing`: nothing but this record can be had yet.",
  },
  agent: {
    description: "First product of the uploader's `User-Agent`; null where it has none.",
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
  updatedAt: { ...date, description: "When name or expiry changed last." },
  expiresAt: { ...date, description: "From then on the image is gone." },
  url: { ...uri, description: "Address of the image: its viewer to browsers, its original to others." },
  links: {
    type: "object",
    description: "Its addresses by format.",
    properties: Object.fromEntries(["json", ...DOCUMENTED_FORMATS].map((format) => [format, uri])),
    required: ["json", ...DOCUMENTED_FORMATS],
  },
};

const IMAGE: JsonSchema = {
  type: "object",
  title: "Image",
  description: "What is known of an image.",
  properties: RECORD_PROPERTIES,
  required: Object.keys(RECORD_PROPERTIES),
};

const CREATED_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  ...RECORD_PROPERTIES,
  editUrl: { ...uri, description: "A page on which to change the image. Contains the PIN." },
  pin: PIN_SCHEMA,
};

const CREATED: JsonSchema = {
  type: "object",
  title: "Created image",
  description: "A new image, and what it takes to change it.",
  properties: CREATED_PROPERTIES,
  required: Object.keys(CREATED_PROPERTIES),
};

export const IMAGE_SCHEMAS = { Image: IMAGE, CreatedImage: CREATED } as const;

export const IMAGE_REF = { $ref: "#/components/schemas/Image" } as const;
export const CREATED_REF = { $ref: "#/components/schemas/CreatedImage" } as const;
