import fc from "fast-check";
import type { ApiMedia } from "../../packages/core/src/openapi/document.ts";
import type { JsonSchema } from "../../packages/core/src/schema/json-schema.ts";
import type { Described } from "./operations.ts";
import { textsFor, valuesFor } from "./values.ts";

export type SubjectState = "ready" | "deleted" | "withheld" | "unknown" | "malformed";

/** A body, before serialization. */
export type DraftBody =
  | { kind: "json"; value: unknown }
  | { kind: "form"; fields: Readonly<Record<string, string>> }
  | {
      kind: "multipart";
      fields: Readonly<Record<string, string>>;
      files: "good" | "none" | "two" | "other type";
    }
  | { kind: "raw"; type: string; text: string };

/** A call of an operation, before its subject is known. */
export interface Draft {
  described: Described;
  state: SubjectState;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  body: DraftBody | null;
  /** Whether and where the call has the PIN or the key. */
  credential: "right" | "wrong" | "none";
  place: "header" | "query" | "bearer";
  /** Whether the query contains bytes that are not UTF-8. */
  isGarbled: boolean;
}

/** Calls of all operations, each as likely as the others. */
export function draftsOf(operations: readonly Described[]): fc.Arbitrary<Draft> {
  return fc.oneof(...operations.map(draftsFor));
}

function draftsFor(described: Described): fc.Arbitrary<Draft> {
  const byPlace = (place: "query" | "header") =>
    Object.fromEntries(
      described.parameters
        .filter((each) => each.in === place)
        .map(({ name, schema }) => [name, seldom(name, textsFor(name, schema))]),
    );
  const headers = fc
    .record({ ...byPlace("header"), Accept: fc.constantFrom("text/html", "*/*") }, { requiredKeys: [] })
    .map(writableHeaders);
  return fc.record({
    described: fc.constant(described),
    state: weighted<SubjectState>(
      [8, "ready"],
      [1, "deleted"],
      [1, "withheld"],
      [1, "unknown"],
      [1, "malformed"],
    ),
    query: fc.record(byPlace("query"), { requiredKeys: [] }).map(withoutGaps),
    headers,
    body: bodiesFor(described),
    credential: weighted<Draft["credential"]>([8, "right"], [1, "wrong"], [1, "none"]),
    place: fc.constantFrom("header", "query", "bearer"),
    isGarbled: weighted([30, false], [1, true]),
  });
}

function withoutGaps(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A condition, a signature or a ticket precedes all other checks, so most calls have none. */
function seldom(name: string, texts: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> {
  if (!/^(?:If-|Range$|s$|until$|ticket$)/.test(name)) return texts;
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: texts });
}

/** Text allowed in a header: visible, without blanks at the ends. */
function writableHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const text = value?.replace(/[^\x20-\x7e]/g, "").trim();
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

function bodiesFor({ method, operation }: Described): fc.Arbitrary<DraftBody | null> {
  const { content = {}, required = false } = operation.requestBody ?? {};
  const bodies = Object.entries(content).map(([type, media]) => bodiesOf(type, media));
  if (bodies.length === 0) return fc.constant(null);
  const raw = fc.record({
    kind: fc.constant("raw" as const),
    type: fc.constantFrom(
      "application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "text/plain",
    ),
    text: fc.constantFrom("", "{", "[]", "null", '"text"', "a=%ff", "--x\r\n", "\u0000"),
  });
  const isUsual = required || method === "PATCH";
  return fc.oneof(
    { weight: isUsual ? 1 : 10, arbitrary: fc.constant(null) },
    { weight: 10, arbitrary: fc.oneof(...bodies) },
    { weight: 1, arbitrary: raw },
  );
}

function bodiesOf(type: string, { schema }: ApiMedia): fc.Arbitrary<DraftBody> {
  const fields = Object.entries(schema?.properties ?? {}).filter(([, each]) => each.format !== "binary");
  const texts = textFields(fields, schema?.required ?? []);
  if (type === "multipart/form-data") {
    const files = weighted<"good" | "none" | "two" | "other type">(
      [10, "good"],
      [1, "none"],
      [1, "two"],
      [1, "other type"],
    );
    return fc.record({ kind: fc.constant("multipart" as const), fields: texts, files });
  }
  if (type === "application/json") {
    const values = Object.fromEntries(fields.map(([name, each]) => [name, valuesFor(name, each)]));
    const value = fc.oneof(
      { weight: 10, arbitrary: fc.record<Record<string, unknown>>(values, { requiredKeys: [] }) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    );
    return fc.record({ kind: fc.constant("json" as const), value });
  }
  return fc.record({ kind: fc.constant("form" as const), fields: texts });
}

function textFields(
  fields: readonly (readonly [string, JsonSchema])[],
  required: readonly string[],
): fc.Arbitrary<Record<string, string>> {
  const texts = Object.fromEntries(fields.map(([name, each]) => [name, textsFor(name, each)]));
  // Mostly with the required parameters: a call without them tests nothing else.
  return fc.record<Record<string, string>>(texts, { requiredKeys: required.filter((name) => name in texts) });
}

function weighted<T>(...choices: readonly (readonly [number, T])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}
