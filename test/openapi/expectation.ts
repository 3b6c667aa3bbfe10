import type { JsonSchema } from "../../packages/core/src/schema/json-schema.ts";
import type { Draft } from "./drafts.ts";
import { type Expectation, fits, given, parameterOf } from "./given.ts";
import { lookupExpectation } from "./lookup-expectation.ts";
import { isLookup, needsPin } from "./plain-call.ts";
import { isEmbedding, isUpload, isViewer } from "./scenes.ts";
import type { Schemas } from "./schemas.ts";

const YEAR_MS = 365 * 86_400_000;

/** The document's statements about a call's parameters, including sentences for rules that schemas cannot express. */
export function expectationOf(draft: Draft, schemas: Schemas): Expectation {
  const { described } = draft;
  if (isLookup(described)) return lookupExpectation(draft, schemas);
  if (draft.isGarbled || draft.body?.kind === "raw") return null;
  if (given(draft, "ticket") !== null) return null;
  if (described.path.includes("{id}") && draft.state !== "ready") return null;
  if (isEmbedding(described)) return embeddingExpectation(draft);
  if (needsPin(described) && draft.credential !== "right") return null;
  // The PIN in a header precedes that in the body, which precedes that in the query.
  if (draft.place === "query" && hasPin(draft)) return null;
  const conditions = [
    "If-Match",
    "If-Unmodified-Since",
    ...(described.method === "PATCH" ? ["If-None-Match"] : []),
  ];
  if (conditions.some((name) => draft.headers[name] !== undefined)) return null;
  if (isUpload(described)) return uploadExpectation(draft, schemas);
  if (described.method === "PATCH") return changeExpectation(draft, schemas);
  if (described.method === "POST") return formExpectation(draft, schemas);
  return readExpectation(draft, schemas);
}

function hasPin({ body }: Draft): boolean {
  if (body?.kind === "json") return isObject(body.value) && Object.hasOwn(body.value, "pin");
  return body?.kind === "form" && body.fields.pin !== undefined;
}

/** A field by its name: the body's, else the query's, with its schema there. */
interface Field {
  value: unknown;
  schema: JsonSchema;
  /** Whether all values there are texts. */
  isOfQuery?: boolean;
}

function fieldOf(draft: Draft, name: string): Field | null {
  const { body, described } = draft;
  const properties = (type: string) =>
    described.operation.requestBody?.content[type]?.schema?.properties?.[name];
  if (body?.kind === "json" && isObject(body.value) && Object.hasOwn(body.value, name)) {
    const schema = properties("application/json");
    return schema === undefined ? null : { value: body.value[name], schema };
  }
  if (body?.kind === "form" && body.fields[name] !== undefined) {
    const schema = properties("application/x-www-form-urlencoded");
    return schema === undefined ? null : { value: wellFormed(body.fields[name]), schema };
  }
  const text = name === "name" ? (draft.query[name] ?? null) : given(draft, name);
  const schema = parameterOf(draft, name)?.schema;
  return text === null || schema === undefined ? null : { value: wellFormed(text), schema, isOfQuery: true };
}

/** A text as it arrives: without lone surrogates. */
function wellFormed(text: string): string {
  return new URLSearchParams({ text }).get("text") ?? "";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The drafts' addresses are of no image of the site: 404 comes before the other parameters. */
function embeddingExpectation(draft: Draft): Expectation {
  if ((given(draft, "format") ?? "json") !== "json") return null;
  return !URL.canParse(given(draft, "url") ?? "");
}

function readExpectation(draft: Draft, schemas: Schemas): Expectation {
  const { described, headers, body } = draft;
  if (body?.kind === "json" && !isObject(body.value)) return true;
  // If the original is sent, there is no choice of representations.
  if (described.path === "/{id}" && headers.Accept !== "text/html") return false;
  const until = given(draft, "until");
  const untilSchema = parameterOf(draft, "until")?.schema;
  if (until !== null && untilSchema !== undefined && !fits(schemas, untilSchema, until)) return true;
  // The signed value is checked before the body's value.
  if (untilSchema !== undefined && (until ?? given(draft, "s")) !== null) return null;
  const file = isViewer(described) ? fieldOf(draft, "download") : null;
  // The parameters of the file follow `?` in its value.
  if (file !== null) return schemas.faultOf(file.schema, file.value) === null ? null : true;
  const crop = ["fit", "at", "background"];
  const shaping = ["convert", ...(isViewer(described) ? [] : ["resize"]), "page", ...crop];
  const isPreset = isFilled(fieldOf(draft, "preset"));
  if (isPreset && shaping.some((name) => isFilled(fieldOf(draft, name)))) return true;
  for (const name of [...shaping, "preset"]) {
    const field = fieldOf(draft, name);
    if (field === null || !isFilled(field)) continue;
    const { value, schema } = field;
    const isRight =
      field.isOfQuery && typeof value === "string"
        ? fits(schemas, schema, value) && isExact(schema, value)
        : schemas.faultOf(schema, value) === null;
    if (!isRight) return true;
    // The pictures of this test have one page. The viewer answers 404 for others.
    if (name === "page" && Number(value) !== 1) return !/^\/\{id\}/.test(described.path);
  }
  const needsBox = ({ value }: Field) => value !== "contain";
  if (
    crop.map((name) => fieldOf(draft, name)).some((each) => each !== null && isFilled(each) && needsBox(each))
  ) {
    return !/\dx\d/.test(String(fieldOf(draft, "resize")?.value ?? ""));
  }
  return false;
}

function isFilled(field: Field | null): boolean {
  return field !== null && field.value !== "" && field.value !== null;
}

/** The keywords for images are case-sensitive. */
function isExact(schema: JsonSchema, text: string): boolean {
  return schema.enum === undefined || schema.enum.some((word) => word === text);
}

function changeExpectation(draft: Draft, schemas: Schemas): Expectation {
  const { body } = draft;
  if (body?.kind === "json" && !isObject(body.value)) return true;
  // A PIN in the header takes precedence; its value does not matter here.
  const name = fieldOf(draft, "name");
  if (name?.value === "") return true;
  const named = name === null || name.value === null ? "absent" : nameState(schemas, name);
  const expires = expiryState(schemas, fieldOf(draft, "expiresAt"));
  const focus = fieldOf(draft, "focus");
  if ([named, expires, descriptionState(schemas, draft)].includes("wrong")) return true;
  if (focus !== null && isFilled(focus) && schemas.faultOf(focus.schema, focus.value) !== null) return true;
  if (named === "right" || expires === "right") return false;
  return !["focus", "description"].some((each) => isNamed(draft, each));
}

/** Whether a field is sent, with any value. */
function isNamed({ body, query }: Draft, name: string): boolean {
  const inBody =
    body?.kind === "json"
      ? isObject(body.value) && Object.hasOwn(body.value, name)
      : body?.kind === "form" && body.fields[name] !== undefined;
  return inBody || query[name] !== undefined;
}

type FieldState = "right" | "wrong" | "absent";

const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function nameState(schemas: Schemas, { value, schema }: Field): FieldState {
  if (typeof value !== "string") return "wrong";
  const cleaned = value.normalize("NFC").replace(UNPRINTABLE, "").trim();
  if (cleaned === "") return "absent";
  return schemas.faultOf(schema, cleaned) === null ? "right" : "wrong";
}

function descriptionState(schemas: Schemas, draft: Draft, field = fieldOf(draft, "description")): FieldState {
  if (field === null || !isFilled(field)) return "absent";
  if (typeof field.value !== "string") return "wrong";
  return nameState(schemas, { ...field, value: field.value.replace(/[\t-\r\u0085\u2028\u2029]+/gu, " ") });
}

function expiryState(schemas: Schemas, field: Field | null): FieldState {
  if (field === null || field.value === "") return "absent";
  if (schemas.faultOf(field.schema, field.value) !== null) return "wrong";
  // Never, where the schema admits it.
  if (field.value === null) return "right";
  const ms = timeOf(field.value);
  return ms > Date.now() && ms <= Date.now() + YEAR_MS ? "right" : "wrong";
}

/** NaN for a date that is in no calendar. */
function timeOf(value: unknown): number {
  const text = String(value).trim();
  if (/^-?\d+$/.test(text)) return Number(text);
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text)?.map(Number) ?? [];
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  if (date.getUTCDate() !== day) return Number.NaN;
  return Date.parse(text.replace(",", ".").replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
}

function uploadExpectation(draft: Draft, schemas: Schemas): Expectation {
  const { body, headers, described } = draft;
  const agent = headers["User-Agent"] ?? "";
  const key = headers["Idempotency-Key"];
  const keySchema = parameterOf(draft, "Idempotency-Key")?.schema ?? {};
  if (agent === "" || (key !== undefined && schemas.faultOf(keySchema, key) !== null)) return true;
  if (body?.kind !== "multipart") return null;
  if (body.files === "other type") return null;
  if (body.files !== "good") return true;
  const properties =
    described.operation.requestBody?.content["multipart/form-data"]?.schema?.properties ?? {};
  const inForm = (name: string) => {
    const text = body.fields[name];
    return text === undefined
      ? null
      : { value: Buffer.from(text).toString("utf8"), schema: properties[name] ?? {} };
  };
  const [name, expiry] = [inForm("name"), inForm("expiresAt")];
  const named = name === null ? "absent" : nameState(schemas, name);
  const expires = expiryState(schemas, expiry);
  if (named === "wrong" || expires === "wrong") return true;
  const isPoint = (field: Field | null) =>
    field === null || !isFilled(field) || schemas.faultOf(field.schema, field.value) === null;
  const focus = inForm("focus");
  if (!isPoint(isFilled(focus) ? focus : fieldOf(draft, "focus"))) return true;
  const sent = [inForm("description"), undefined].map((each) => descriptionState(schemas, draft, each));
  if (sent[0] !== "right" && sent.includes("wrong")) return true;
  const inQuery = fieldOf(draft, "name");
  if (named === "absent" && inQuery !== null && nameState(schemas, inQuery) === "wrong") return true;
  return expires === "absent" && expiryState(schemas, fieldOf(draft, "expiresAt")) === "wrong";
}

function formExpectation(draft: Draft, schemas: Schemas): Expectation {
  if (draft.body?.kind !== "form") return null;
  const { action, confirm = "", expiry = "", expiresIn = "" } = draft.body.fields;
  if (action === "delete") return wellFormed(confirm) === "";
  if (action !== "update") return true;
  const [name, lasts, until] = ["name", "expiresIn", "expiresAt"].map((each) => fieldOf(draft, each));
  if (name !== null && name !== undefined && nameState(schemas, name) !== "right") return true;
  if (descriptionState(schemas, draft) === "wrong") return true;
  const sides = ["focusX", "focusY"].map((each) => fieldOf(draft, each));
  if (sides.some((side) => side !== null && isFilled(side))) {
    const isSide = (side: Field | null) =>
      side !== null && isFilled(side) && schemas.faultOf(side.schema, side.value) === null;
    if (!sides.every(isSide)) return true;
  }
  const date = expiryState(schemas, until ?? null);
  const chosen = ["keep", "in", "on"].includes(expiry) ? expiry : expiresIn.trim() !== "" ? "in" : "on";
  if (chosen !== "in") {
    if (expiresIn.trim() !== "" || (chosen === "keep" && date !== "absent")) return true;
    return date === "wrong" || (expiry === "on" && date === "absent");
  }
  if (date !== "absent" || lasts === null || lasts === undefined) return true;
  if (schemas.faultOf(lasts.schema, lasts.value) !== null) return true;
  return Number(expiresIn) === 0 || Number(expiresIn) > YEAR_MS;
}
