import type { ApiDocument, ApiHeader, ApiResponse } from "@outrigger/core";
import { answerName, type Described } from "./operations.ts";
import type { Schemas } from "./schemas.ts";
import type { Answer } from "./sender.ts";

/** Headers that mean something to clients: they occur where they are described, and nowhere else. */
const TELLING =
  /^(?:x-service-|link$|location$|retry-after$|allow$|sunset$|ratelimit|content-range$|www-authenticate$|preference-applied$)/;

/** What is wrong with an answer by its description; nothing where it keeps to it. */
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

/** As {@link faultsOf}, of an answer whose description is known. */
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

/** Whether it was the host app that answered, which has another page for what is not found. */
export function isHostsAnswer({ status, headers }: Answer): boolean {
  return status === 404 && headers["content-security-policy"] === "default-src 'none'";
}
