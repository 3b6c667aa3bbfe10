import type { ApiDocument } from "@outrigger/core";
import type { ApiHeader, ApiResponse } from "../../packages/core/src/openapi/document.ts";
import { answerName, type Described } from "./operations.ts";
import type { Schemas } from "./schemas.ts";
import type { Answer } from "./sender.ts";

/** Headers with a meaning for clients: they may occur only where they are described. */
const TELLING =
  /^(?:x-service-|link$|location$|retry-after$|allow$|sunset$|ratelimit|content-range$|www-authenticate$|preference-applied$)/;

/** The violations of an answer's description; empty if there are none. */
export function faultsOf(
  document: ApiDocument,
  schemas: Schemas,
  described: Described,
  answer: Answer,
): string[] {
  const response = described.operation.responses[answer.status];
  const name = answerName(described, answer.status);
  if (response === undefined)
    return [`${name} is not described: ${answer.body.toString("utf8").slice(0, 200)}`];
  return faultsOfResponse(document, schemas, response, answer, described.method === "HEAD").map(
    (fault) => `${name}: ${fault}`,
  );
}

/** Like {@link faultsOf}, for an answer whose description is known. */
export function faultsOfResponse(
  document: ApiDocument,
  schemas: Schemas,
  response: ApiResponse,
  answer: Answer,
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
  answer: Answer,
): string[] {
  const known = new Map<string, ApiHeader>();
  for (const [name, header] of Object.entries(headers)) {
    const resolved =
      header.$ref === undefined ? header : components.headers?.[header.$ref.split("/").at(-1) ?? ""];
    if (resolved === undefined) return [`${header.$ref} leads nowhere`];
    known.set(name.toLowerCase(), resolved);
  }
  const missing = [...known].flatMap(([name, { required, schema }]) => {
    const value = answer.headers[name];
    if (value === undefined) return required === true ? [`${name} is missing`] : [];
    const fault = schemas.faultOf(schema ?? {}, String(value));
    return fault === null ? [] : [`${name}: ${value}: ${fault}`];
  });
  const unknown = Object.keys(answer.headers).filter((name) => TELLING.test(name) && !known.has(name));
  return [...missing, ...unknown.map((name) => `${name} is not described: ${answer.headers[name]}`)];
}

function headBodyFaults({ body }: Answer): string[] {
  return body.length === 0 ? [] : ["has a body"];
}

function bodyFaults(schemas: Schemas, { content }: ApiResponse, { headers, body }: Answer): string[] {
  if (content === undefined) return body.length === 0 ? [] : ["has a body, and none is described"];
  const type = headers["content-type"]?.split(";")[0] ?? "";
  const media = content[type];
  if (media === undefined) return [`${type || "no type"} is not described`];
  if (body.length === 0) return ["has no body"];
  const text = body.toString("utf8");
  const value = /json$/.test(type) ? JSON.parse(text) : text;
  const fault = schemas.faultOfAnswer(media.schema ?? {}, value);
  return fault === null ? [] : [`${fault}: ${text.slice(0, 300)}`];
}

/** Whether the host app answered; it has its own not-found page. */
export function isHostsAnswer({ status, headers }: Answer): boolean {
  return status === 404 && headers["content-security-policy"] === "default-src 'none'";
}
