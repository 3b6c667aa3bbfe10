import type { ApiDocument } from "@outrigger/core";
import type { ApiHeader, ApiResponse } from "../../packages/core/src/openapi/document.ts";
import { answerName, type Described } from "./operations.ts";
import type { Schemas } from "./schemas.ts";

/** Headers with a meaning for clients: they may occur only where they are described. */
const TELLING =
  /^(?:x-service-|link$|location$|retry-after$|allow$|sunset$|ratelimit|content-range$|www-authenticate$|preference-applied$)/;

/** A reply as a service gives it, or as a client gets it. */
export interface Replied {
  status: number;
  /** Names in any case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `null`: a stream, which is not read. */
  body: Buffer | null;
}

/** The violations of an answer's description; empty if there are none. */
export function faultsOf(
  document: ApiDocument,
  schemas: Schemas,
  described: Described,
  answer: Replied,
): string[] {
  const response = described.operation.responses[answer.status];
  const name = answerName(described, answer.status);
  if (response === undefined) return [`${name} is not described: ${String(answer.body).slice(0, 200)}`];
  return faultsOfResponse(document, schemas, response, answer, described.method === "HEAD").map(
    (fault) => `${name}: ${fault}`,
  );
}

/** Like {@link faultsOf}, for an answer whose description is known. */
export function faultsOfResponse(
  document: ApiDocument,
  schemas: Schemas,
  response: ApiResponse,
  answer: Replied,
  isHead = false,
): string[] {
  return [
    ...headerFaults(document, schemas, response, answer),
    ...(isHead ? headBodyFaults(answer) : bodyFaults(schemas, response, answer)),
  ];
}

function headerFaults(
  { components }: ApiDocument,
  schemas: Schemas,
  { headers = {} }: ApiResponse,
  answer: Replied,
): string[] {
  const known = new Map<string, ApiHeader>();
  for (const [name, header] of Object.entries(headers)) {
    const resolved =
      header.$ref === undefined ? header : components.headers?.[header.$ref.split("/").at(-1) ?? ""];
    if (resolved === undefined) return [`${header.$ref} leads nowhere`];
    known.set(name.toLowerCase(), resolved);
  }
  const sent = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const missing = [...known].flatMap(([name, { required, schema }]) => {
    const value = sent[name];
    if (value === undefined) return required === true ? [`${name} is missing`] : [];
    const fault = schemas.faultOf(schema ?? {}, String(value));
    return fault === null ? [] : [`${name}: ${value}: ${fault}`];
  });
  const unknown = Object.keys(sent).filter((name) => TELLING.test(name) && !known.has(name));
  return [...missing, ...unknown.map((name) => `${name} is not described: ${sent[name]}`)];
}

function headBodyFaults({ body }: Replied): string[] {
  return body?.length === 0 ? [] : ["has a body"];
}

function bodyFaults(schemas: Schemas, { content }: ApiResponse, { headers, body }: Replied): string[] {
  if (content === undefined) return body?.length === 0 ? [] : ["has a body, and none is described"];
  const [, sentType] = Object.entries(headers).find(([name]) => /^content-type$/i.test(name)) ?? [];
  const type = String(sentType).split(";")[0] ?? "";
  const media = content[type];
  if (media === undefined) return [`${type || "no type"} is not described`];
  if (body === null || !/json$|^text\//.test(type)) return [];
  if (body.length === 0) return ["has no body"];
  const text = body.toString("utf8");
  const value = /json$/.test(type) ? JSON.parse(text) : text;
  const fault = schemas.faultOfAnswer(media.schema ?? {}, value);
  return fault === null ? [] : [`${fault}: ${text.slice(0, 300)}`];
}
