import { OutriggerError } from "@outrigger/client";
import { expect, it } from "vitest";
import { failureText, serviceUrlOf } from "./service.ts";

const BASE = "https://example.com/img";

function refusal(status: number, detail: string, more: { retryAfterMs?: number; cause?: unknown } = {}) {
  return new OutriggerError({ status, title: "A title", detail, ...more });
}

/** The rejection of `fetch` after a failed system call. */
function failure(code: string, message = "") {
  const cause = new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });
  return refusal(0, "No whole reply", { cause });
}

it.each<[string, OutriggerError, string]>([
  ["the detail", refusal(403, "SSL is required: use https://."), "SSL is required: use https://"],
  ["the title without a detail", refusal(451, ""), "451 A title"],
  [
    "the option that sets a field",
    refusal(400, "expiresAt must be at most 365 days from now"),
    "--expires must be at most 365 days from now",
  ],
  ["a field without an option by its name", refusal(400, "page must be at most 1"), "page must be at most 1"],
  [
    "the service of an unknown image",
    refusal(404, "There is no such image."),
    `There is no such image (${BASE})`,
  ],
  ["when to retry", refusal(429, "Too many.", { retryAfterMs: 41_200 }), "Too many (retry in 42 s)"],
  ["a long time until a retry", refusal(429, "No.", { retryAfterMs: 3_600_000 }), "No (retry in 60 min)"],
  ["escaped control characters", refusal(500, "\u001b[31mred"), "\\u001b[31mred"],
  ["that the service is not Outrigger", refusal(200, "HTML"), `The service at ${BASE} is not Outrigger`],
  ["the redirect", refusal(308, "elsewhere"), `${BASE} redirects to another address`],
  ["the detail of a 202", refusal(202, "requests a retry"), "requests a retry"],
  [
    "that no service listens",
    failure("ECONNREFUSED"),
    `No service responds at ${BASE}; start one with outrigger serve`,
  ],
  ["the unknown host", failure("ENOTFOUND"), `No service responds at ${BASE}`],
  ["the missing TLS", failure("ERR_SSL_WRONG_VERSION_NUMBER"), "the service does not speak TLS; try http://"],
  [
    "the connection error",
    failure("X", "self-signed certificate"),
    `The connection to ${BASE} failed: self-signed certificate`,
  ],
])("failureText reports %s", (_, error, text) => {
  expect(failureText(error, BASE)).toContain(text);
});

it("serviceUrlOf prefers the typed URL, then the environment, then the default of serve", () => {
  const environment = { OUTRIGGER_URL: "https://img.example.com/" };
  expect(serviceUrlOf("http://127.0.0.1:8080/img//", environment)).toBe("http://127.0.0.1:8080/img");
  expect(serviceUrlOf(undefined, environment)).toBe("https://img.example.com");
  expect(serviceUrlOf(undefined, { OUTRIGGER_URL: "" })).toBe("http://127.0.0.1:3000");
  expect(serviceUrlOf(undefined, {})).toBe("http://127.0.0.1:3000");
});

it("serviceUrlOf rejects a text that is not an http(s) URL and names its source", () => {
  for (const text of ["", "img.example.com", "ftp://img.example.com", "/img"]) {
    expect(() => serviceUrlOf(text, {}), text).toThrow("--to: must be an absolute http(s) URL");
  }
  expect(() => serviceUrlOf(undefined, { OUTRIGGER_URL: "here" })).toThrow(
    "OUTRIGGER_URL: must be an absolute",
  );
});

it.each(["https://me:hush@example.com", "https://example.com/?a=hush", "https://example.com/#hush"])(
  "serviceUrlOf rejects %s and quotes no part of it",
  (text) => {
    expect(() => serviceUrlOf(text, {})).toThrow("--to: must be an absolute http(s) URL without user");
    expect(() => serviceUrlOf(text, {})).not.toThrow("hush");
  },
);
