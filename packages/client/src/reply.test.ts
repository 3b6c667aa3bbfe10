import { expect, test } from "vitest";
import { parseRetryAfter, readRefusal } from "./reply.ts";

function refusal(status: number, type: string, text: string, secrets: string[] = []) {
  const headers = new Headers(type === "" ? {} : { "Content-Type": type });
  return readRefusal({ status, statusText: "", headers, text }, secrets);
}

test("readRefusal takes title and detail from a problem", () => {
  const problem = { type: "about:blank", title: "Gone", status: 410, detail: "Deleted." };
  expect(refusal(410, "application/problem+json; charset=utf-8", JSON.stringify(problem))).toMatchObject({
    status: 410,
    title: "Gone",
    detail: "Deleted.",
    message: "Deleted.",
  });
});

test("readRefusal keeps all errors of the lookup", () => {
  const errors = [
    { id: "invalid_domain", code: 400, details: "Not a domain" },
    { id: "invalid_type", code: 400, details: "Not a type" },
  ];
  const error = refusal(400, "application/json", JSON.stringify({ errors: [...errors, null, { id: 1 }] }));
  expect(error).toMatchObject({ title: "invalid_domain", message: "Not a domain; Not a type", errors });
});

test.each([
  ["text/html", `<html><head><title>Bad gateway</title></head>${"<p>x</p>".repeat(9999)}`, /: Bad gateway$/],
  ["text/html; charset=utf-8", "<p>no title</p>", /which does not come from the service$/],
  ["application/xhtml+xml", `<title>${"long ".repeat(100)}</title>`, /(?:long ){19}long…$/],
  ["text/plain", "503 Service Unavailable: Later.\nmore", /^503 Service Unavailable: Later\.$/],
  ["text/plain", `${"x".repeat(9999)}`, /^x{500}…$/],
  ["text/plain", "a\u001b[31mb\u0000c", /^a \[31mb c$/],
  ["text/plain", " \n ", /without saying why$/],
  ["application/json", "{", /without saying why$/],
  ["application/json", '{"detail":5,"errors":"none"}', /without saying why$/],
  ["application/problem+json", '{"detail":""}', /without saying why$/],
  ["image/png", "\u0089PNG", /without saying why$/],
  ["", "", /^The server answered 503 without saying why$/],
])('readRefusal takes the detail from a reply of type "%s" with body %j', (type, text, message) => {
  const error = refusal(503, type, text);
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain("<");
  expect(error.title).toBe("HTTP 503");
});

test("readRefusal removes secrets from title, detail and errors", () => {
  const secret = "ABCDEFGH01234567";
  const problem = JSON.stringify({ title: `T ${secret}`, detail: `D ${secret} ${secret}` });
  const error = refusal(403, "application/problem+json", problem, [secret]);
  expect([error.title, error.detail]).toEqual(["T …", "D … …"]);
  expect(JSON.stringify(Object.entries(error)) + error.stack).not.toContain(secret);
});

const NOW = Date.parse("2026-03-01T12:00:00Z");

test.each<[string, Record<string, string>, number | null]>([
  ["whole seconds", { "Retry-After": "120" }, 120_000],
  ["none", { "Retry-After": " 0 " }, 0],
  ["a date", { "Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT" }, 30_000],
  ["an old form of date", { "Retry-After": "Sunday, 01-Mar-26 12:00:30 GMT" }, 30_000],
  ["a date in the past", { "Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
  [
    "a date of a wrong clock",
    { "Retry-After": "Mon, 01 Mar 2027 00:00:05 GMT", Date: "Mon, 01 Mar 2027 00:00:00 GMT" },
    5000,
  ],
  ["nothing", {}, null],
  ["an empty value", { "Retry-After": "" }, null],
  ["a fraction", { "Retry-After": "1.5" }, null],
  ["a negative number", { "Retry-After": "-1" }, null],
  ["words", { "Retry-After": "soon" }, null],
  ["an invalid date", { "Retry-After": "Sun, 99 Foo 2026 12:00:30 GMT" }, null],
])("parseRetryAfter reads %s", (_what, headers, expected) => {
  expect(parseRetryAfter(new Headers(headers), NOW)).toBe(expected);
});
