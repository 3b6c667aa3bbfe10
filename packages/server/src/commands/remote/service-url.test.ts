import { expect, it } from "vitest";
import { serviceUrlOf } from "./service-url.ts";

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
    expect(() => serviceUrlOf(text, {})).toThrow(
      "The command line is not valid\n--to: must have no user, password, query or fragment",
    );
    expect(() => serviceUrlOf(text, {})).not.toThrow("hush");
  },
);
