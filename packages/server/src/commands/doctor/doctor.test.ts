import { expect, it } from "vitest";
import { visitOptionsOf } from "./doctor.ts";

const URL = "https://example.com/img/";

it("visitOptionsOf parses the options as typed", () => {
  expect(visitOptionsOf(URL)).toEqual({ base: "https://example.com/img", headers: {} });
  expect(visitOptionsOf(URL, ["Authorization: Bearer a:b", "X-Key:1"])).toMatchObject({
    headers: { Authorization: "Bearer a:b", "X-Key": "1" },
  });
});

it.each(["Authorization", "a secret", ": x", "X Key: 1", "X-Key: line\nbreak"])(
  "visitOptionsOf rejects the header %j without quoting it",
  (header) => {
    expect(() => visitOptionsOf(URL, [header])).toThrow("--header: must be a header such as");
    expect(() => visitOptionsOf(URL, [header])).not.toThrow("secret");
  },
);

it.each([
  ["https://example.com/img/", "https://example.com/img"],
  ["https://example.com", "https://example.com"],
  ["http://[::1]:3000//", "http://[::1]:3000"],
])("visitOptionsOf accepts the mount point %s", (text, base) => {
  expect(visitOptionsOf(text).base).toBe(base);
});

it.each([
  "example.com/img",
  "ftp://example.com",
  "https://me:secret@example.com/",
  "https://e.com/?a",
  "/img",
])("visitOptionsOf rejects the mount point %s without quoting it", (text) => {
  expect(() => visitOptionsOf(text)).toThrow(/^The command line is not valid\nURL: must be an absolute http/);
  expect(() => visitOptionsOf(text)).not.toThrow("secret");
});
