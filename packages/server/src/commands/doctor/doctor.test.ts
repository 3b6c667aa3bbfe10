import { expect, it } from "vitest";
import { mountOptionsOf } from "./doctor.ts";

const URL = "https://example.com/img/";

it("mountOptionsOf parses the options as typed", () => {
  expect(mountOptionsOf(URL)).toEqual({ base: "https://example.com/img", headers: {} });
  expect(mountOptionsOf(URL, ["Authorization: Bearer a:b", "X-Key:1"])).toMatchObject({
    headers: { Authorization: "Bearer a:b", "X-Key": "1" },
  });
});

it.each(["Authorization", "a secret", ": x", "X Key: 1", "X-Key: line\nbreak"])(
  "mountOptionsOf rejects the header %j without quoting it",
  (header) => {
    expect(() => mountOptionsOf(URL, [header])).toThrow("--header: must be a header such as");
    expect(() => mountOptionsOf(URL, [header])).not.toThrow("secret");
  },
);

it.each([
  ["https://example.com/img/", "https://example.com/img"],
  ["https://example.com", "https://example.com"],
  ["http://[::1]:3000//", "http://[::1]:3000"],
])("mountOptionsOf accepts the mount point %s", (text, base) => {
  expect(mountOptionsOf(text).base).toBe(base);
});

it.each([
  "example.com/img",
  "ftp://example.com",
  "https://me:secret@example.com/",
  "https://e.com/?a",
  "/img",
])("mountOptionsOf rejects the mount point %s without quoting it", (text) => {
  expect(() => mountOptionsOf(text)).toThrow(/^URL: must be an absolute http/);
  expect(() => mountOptionsOf(text)).not.toThrow("secret");
});
