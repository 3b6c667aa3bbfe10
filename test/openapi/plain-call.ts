import type { JsonValue } from "../../packages/core/src/schema/json-schema.ts";
import { multipart } from "./multipart.ts";
import type { Described } from "./operations.ts";
import type { Sent } from "./sender.ts";
import type { ApiSite } from "./sites.ts";
import type { Subject } from "./subjects.ts";
import { flatPng } from "./tiny-files.ts";

/** A valid call: built from the operation's description, with its examples as values. */
export function plainCall(described: Described, subject: Subject, { base, made, ticket }: ApiSite): Sent {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place, required, schema } of described.parameters) {
    const example = schema.examples?.[0];
    if (place === "header" && required === true) headers[name] = String(example);
    if (place === "query" && isLookup(described) && example !== undefined) query.set(name, String(example));
  }
  if (needsKey(described)) query.set("api_key", made.key);
  if (described.path === "/api/tickets.json" && described.method !== "POST") query.set("ticket", ticket);
  if (described.path === "/api/oembed.json") query.set("url", `${base}/${subject.id}`);
  if (needsPin(described)) headers["X-Service-Image-Pin"] = subject.pin;
  const body = plainBody(described);
  return {
    method: described.method,
    target: targetOf(described.path, subject, query),
    headers: { ...headers, ...(body === null ? {} : { "Content-Type": body.type }) },
    ...(body === null ? {} : { body: body.body }),
  };
}

export function isLookup({ path }: Described): boolean {
  return path.startsWith("/v2/");
}

function needsKey({ operation }: Described): boolean {
  return operation.security.some((each) => "keyInQuery" in each);
}

export function needsPin({ operation }: Described): boolean {
  return operation.security.some((each) => "imagePin" in each);
}

export function targetOf(path: string, { id }: Pick<Subject, "id">, query: URLSearchParams): string {
  const place = path.replace("{id}", encodeURIComponent(id));
  return query.size === 0 ? place : `${place}?${query}`;
}

function plainBody({ method, path, operation }: Described): { type: string; body: Buffer | string } | null {
  if (operation.requestBody?.content["multipart/form-data"] !== undefined) {
    const form = multipart([
      { name: "imagedata", value: flatPng(), fileName: "tiny.png", type: "image/png" },
    ]);
    return { type: form.type, body: form.body };
  }
  if (method === "PATCH") return jsonBody({ name: "another" });
  if (method === "POST" && path === "/{id}/edit") {
    return { type: "application/x-www-form-urlencoded", body: "action=update&name=another" };
  }
  return null;
}

function jsonBody(value: JsonValue): { type: string; body: string } {
  return { type: "application/json", body: JSON.stringify(value) };
}
