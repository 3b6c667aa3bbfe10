import type { Described } from "./operations.ts";
import type { ApiSite, Sent, Subject } from "./sites.ts";

/** A valid call: built from the operation's description, with its examples as values. */
export function plainCall(described: Described, subject: Subject, { base, made, ticket }: ApiSite): Sent {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const { method, path, operation } = described;
  for (const { name, in: place, required, schema } of described.parameters) {
    const example = schema.examples?.[0];
    if (place === "header" && required === true) headers[name] = String(example);
    if (place === "query" && isLookup(described) && example !== undefined) query.set(name, String(example));
  }
  if (operation.security.some((each) => "keyInQuery" in each)) query.set("api_key", made.key);
  if (path === "/api/tickets.json" && method !== "POST") query.set("ticket", ticket);
  if (path === "/api/oembed.json") query.set("url", `${base}/${subject.id}`);
  if (needsPin(described)) headers["X-Service-Image-Pin"] = subject.pin;
  const target = targetOf(path, subject, query);
  if (method === "PATCH") return { method, target, headers, fields: { name: "another" } };
  return { method, target, headers };
}

export function isLookup({ path }: Pick<Described, "path">): boolean {
  return path.startsWith("/v2/");
}

export function needsPin({ operation }: Described): boolean {
  return operation.security.some((each) => "imagePin" in each);
}

export function targetOf(path: string, { id }: Pick<Subject, "id">, query: URLSearchParams): string {
  const place = path.replace("{id}", encodeURIComponent(id));
  return query.size === 0 ? place : `${place}?${query}`;
}
