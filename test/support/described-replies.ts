import { type ApiDocument, createApiDescription, type Service } from "@outrigger/core";
import { expect } from "vitest";
import type { Described, PathItem } from "../../packages/core/src/openapi/document.ts";
import { faultsOfResponse, type Replied } from "../openapi/check-answer.ts";
import { createSchemas, type Schemas } from "../openapi/schemas.ts";
import { afterEachTest } from "./hooks.ts";

type Call = Parameters<Service["handle"]>[0];
interface Checked {
  document: ApiDocument;
  schemas: Schemas;
  paths: { pattern: RegExp; path: string; item: PathItem }[];
}

/** Described in words only: the headers of a create with the last byte. */
const IN_WORDS = /^\w+ \/api\/uploads\/\{upload\} .* is not described: /;

const faults: string[] = [];
afterEachTest(() => {
  expect(takeFaults()).toEqual([]);
});

/** The faults since the last test, which do not fail this one. */
export function takeFaults(): string[] {
  return faults.splice(0);
}

/** The service. A reply that differs from the OpenAPI document of the service fails the test. */
export function describedReplies(service: Service & Described): Service {
  let checked: Checked | null = null;
  const check = ({ method, path }: Call, replied: Replied) => {
    if (checked !== null) faults.push(...faultsIn(checked, { method, path }, replied));
  };
  return {
    async handle(call) {
      checked ??= checkedBy(await documentOf(createApiDescription([service])));
      const reply = await service.handle(call);
      if (reply === undefined) return undefined;
      const { body = Buffer.of() } = reply;
      const isStream = typeof body !== "string" && !(body instanceof Uint8Array);
      check(call, { ...reply, body: isStream ? null : Buffer.from(body) });
      return reply;
    },
    answerNow(call, inFront) {
      const reply = service.answerNow?.(call, inFront);
      if (reply === undefined) return undefined;
      const { status, headers, body = Buffer.of() } = reply;
      const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ""]] : []));
      check(call, { status, headers: Object.fromEntries(pairs), body: Buffer.from(body) });
      return reply;
    },
  };
}

/** By the text of a document: sites with the same options share its compiled schemas. */
const compiled = new Map<string, Checked>();

function checkedBy(document: ApiDocument): Checked {
  const text = JSON.stringify(document);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const pattern = path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[\\w-]+");
    return { pattern: new RegExp(`^${pattern}/?$`), path, item };
  });
  // A path without parameters precedes one with a parameter in its place.
  paths.sort((one, other) => Number(one.path.includes("{")) - Number(other.path.includes("{")));
  const made = { document, schemas: createSchemas(document), paths };
  compiled.set(text, made);
  return made;
}

function faultsIn(
  { document, schemas, paths }: Checked,
  { method, path }: Pick<Call, "method" | "path">,
  replied: Replied,
): string[] {
  const found = paths.find(({ pattern }) => pattern.test(path));
  if (found === undefined) return [];
  const { get, head, post, patch, delete: remove } = found.item;
  const operation = { GET: get, HEAD: head, POST: post, PATCH: patch, DELETE: remove }[method];
  if (operation === undefined) return [];
  const response = operation.responses[replied.status];
  const name = `${method} ${found.path} ${replied.status}`;
  if (response === undefined) return [`${name} is not described: ${replied.body}`];
  const isHead = method === "HEAD";
  return faultsOfResponse(document, schemas, response, replied, isHead)
    .map((fault) => `${name}: ${fault}`)
    .filter((fault) => !IN_WORDS.test(fault));
}

/** A service's own description, requested over a connection that it accepts. */
export async function documentOf(service: Service): Promise<ApiDocument> {
  const nothing = () => Promise.reject(new Error("There is no body"));
  const reply = await service.handle({
    ...{ method: "GET", path: "/api/openapi.json", search: "", mountPath: "/api-site" },
    headers: { host: "127.0.0.1" },
    ...{ origin: "https://127.0.0.1", secure: true, clientIp: "127.0.0.1", peerIp: "127.0.0.1" },
    signal: new AbortController().signal,
    context: null,
    ...{ upload: nothing, fields: nothing, bytes: nothing },
  });
  return JSON.parse(String(reply?.body)) as ApiDocument; // Another test proves its shape.
}
