import { OutriggerError } from "@outrigger/client";
import { expect, it } from "vitest";
import { failureText, isHopeless } from "./failure-text.ts";

const BASE = "https://example.com/img";

function refusal(status: number, detail: string, more: { retryAfterMs?: number; cause?: unknown } = {}) {
  return new OutriggerError({ status, title: "A title", detail, ...more });
}

/** What `fetch` rejects with where a system call failed. */
function failure(code: string, message = "") {
  const cause = new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });
  return refusal(0, "No whole reply", { cause });
}

it.each<[string, OutriggerError, string]>([
  ["what was said", refusal(403, "SSL is required: use https://."), "SSL is required: use https://"],
  ["the title where nothing was", refusal(451, ""), "451 A title"],
  [
    "the limit",
    refusal(413, "The file is over the limit of 1000 bytes"),
    "The file is over the limit of 1000 bytes",
  ],
  ["where it was looked for", refusal(404, "There is no such image."), `There is no such image (${BASE})`],
  ["when to ask again", refusal(429, "Too many.", { retryAfterMs: 41_200 }), "Too many (again in 42 s)"],
  ["nothing that a terminal obeys", refusal(500, "\u001b[31mred"), "\\u001b[31mred"],
  ["that it is something else", refusal(200, "HTML"), `What answers at ${BASE} is not Outrigger`],
  ["that it is somewhere else", refusal(308, "elsewhere"), `${BASE} only leads elsewhere`],
  ["that it takes too long", refusal(202, "asks to come back"), "asks to come back"],
  [
    "that nobody is there",
    failure("ECONNREFUSED"),
    `Nothing answers at ${BASE}; start one with outrigger serve`,
  ],
  ["that there is no such host", failure("ENOTFOUND"), `Nothing answers at ${BASE}`],
  ["what it speaks", failure("ERR_SSL_WRONG_VERSION_NUMBER"), "it does not speak TLS there; try http://"],
  [
    "what broke",
    failure("X", "self-signed certificate"),
    `The connection to ${BASE} failed: self-signed certificate`,
  ],
])("tells %s", (_, error, text) => {
  expect(failureText(error, BASE)).toContain(text);
});

it("knows what would go wrong again with everything else", () => {
  expect([failure("ECONNREFUSED"), refusal(401, "No user")].map(isHopeless)).toEqual([true, true]);
  const others = [
    failure("ECONNRESET"),
    refusal(403, "The PIN is wrong"),
    refusal(429, "Later"),
    refusal(410, "Gone"),
  ];
  expect(others.map(isHopeless)).toEqual([false, false, false, false]);
});
