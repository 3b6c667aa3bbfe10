import { expect, test } from "vitest";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { VERSION } from "./version.ts";

const baseUrl = "https://example.com/img";
const settingsOf = (options: ClientOptions) => clientSettings("createImagesClient", options, CLIENT_RULES);

test.each([
  ["https://example.com/img", "https://example.com/img"],
  ["https://example.com/img//", "https://example.com/img"],
  ["HTTPS://Example.com:443", "https://example.com"],
  ["http://127.0.0.1:8080/a%20b/", "http://127.0.0.1:8080/a%20b"],
])("baseUrl accepts %s", (given, expected) => {
  expect(settingsOf({ baseUrl: given }).baseUrl).toBe(expected);
});

test.each([
  ["", /^baseUrl/],
  ["/img", /^baseUrl/],
  ["ftp://example.com/", /^baseUrl/],
  ["https://me:secret@example.com/", /^baseUrl/],
  ["https://example.com/?a=b", /^baseUrl/],
  ["https://example.com/#a", /^baseUrl/],
])("baseUrl rejects %j", (given, message) => {
  expect(() => settingsOf({ baseUrl: given })).toThrow(message);
});

test.each<[Partial<ClientOptions>, RegExp]>([
  [{ maxRetries: -1 }, /^maxRetries/],
  [{ maxRetries: 1.5 }, /^maxRetries/],
  [{ userAgent: "" }, /^userAgent/],
  [{ userAgent: " " }, /^userAgent/],
  [{ userAgent: "a/1\r\nX: y" }, /^userAgent/],
  [{ userAgent: "ü/1" }, /^userAgent/],
])("a client rejects the options %j", (options, message) => {
  expect(() => settingsOf({ baseUrl, ...options })).toThrow(message);
});

test("the User-Agent is the option, otherwise the header, otherwise the default", () => {
  const agentOf = (options: Partial<ClientOptions>) =>
    settingsOf({ baseUrl, ...options }).headers.get("User-Agent");
  const headers = { "user-agent": "host/2" };
  expect(agentOf({})).toBe(`outrigger-client/${VERSION}`);
  expect(agentOf({ headers })).toBe("host/2");
  expect(agentOf({ headers, userAgent: "app/1" })).toBe("app/1");
});
