import { expect, test } from "vitest";
import { formatAddress, queryOf } from "./image-address.ts";
import type { ImageFormat } from "./image-types.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";

test("formatAddress makes an address in every format", () => {
  const baseUrl = "https://example.com/img";
  for (const format of ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"] as const) {
    const address = formatAddress(baseUrl, ID, format, { resize: "10x", page: 2, convert: undefined });
    expect(address).toBe(`${baseUrl}/api/images/${ID}.${format}?resize=10x&page=2`);
  }
});

test("formatAddress adds a preset and a signature to the query", () => {
  const address = formatAddress("https://example.com", ID, "png", { preset: "thumb", s: "a-_Z", until: 5 });
  expect(address).toBe(`https://example.com/api/images/${ID}.png?preset=thumb&until=5&s=a-_Z`);
});

test("formatAddress rejects an unknown format, and encodes parameters", () => {
  // A value that untyped callers may pass.
  expect(() => formatAddress("https://example.com", ID, "exe" as ImageFormat)).toThrow(TypeError);
  expect(() => formatAddress("https://example.com", "../x", "png")).toThrow(/^id must be/);
  expect(queryOf({ name: "a&b=c+d e/ü", none: undefined, zero: 0 })).toBe(
    "?name=a%26b%3Dc%2Bd+e%2F%C3%BC&zero=0",
  );
  expect(queryOf({ none: undefined })).toBe("");
});
