import { expect, test } from "vitest";
import { formatAddress, parseImageAddress, queryOf } from "./image-address.ts";
import type { ImageFormat } from "./image-types.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";
const PIN = "ABCDEFGH01234567";

test.each([
  [`https://example.com/img/${ID}`, "https://example.com/img", null],
  [`https://example.com/${ID}`, "https://example.com", null],
  [`https://example.com/a/b/${ID}/view`, "https://example.com/a/b", null],
  [`https://example.com/img/${ID}/edit?pin=${PIN}`, "https://example.com/img", PIN],
  [`https://example.com/img/${ID}/edit?pin=wrong`, "https://example.com/img", null],
  [`https://example.com/img/api/images/${ID}.json`, "https://example.com/img", null],
  [`https://example.com/api/images/${ID}.jpeg/?resize=9x#a`, "https://example.com", null],
  [`http://user:word@127.0.0.1:8080/${ID}/${ID}.png/${ID}`, `http://127.0.0.1:8080/${ID}/${ID}.png`, null],
])("parseImageAddress accepts %s", (address, baseUrl, pin) => {
  expect(parseImageAddress(address)).toEqual({ baseUrl, id: ID, pin });
});

test.each([
  "",
  ID,
  `/img/${ID}`,
  `ftp://example.com/${ID}`,
  "https://example.com/",
  "https://example.com/img/short",
  `https://example.com/img/${ID}A`,
  `https://example.com/img/${ID}/`,
  `https://example.com/img/${ID}/delete`,
  `https://example.com/img/${ID}.png`,
  `https://example.com/img/api/images/${ID}`,
  `https://example.com/img/api/images/${ID}.bmp`,
  "https://example.com/img/api/images.json",
  `https://example.com/?id=${ID}`,
])("parseImageAddress rejects %j", (address) => {
  expect(parseImageAddress(address)).toBeNull();
});

test("parseImageAddress parses every address that formatAddress makes", () => {
  const baseUrl = "https://example.com/img";
  for (const format of ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"] as const) {
    const address = formatAddress(baseUrl, ID, format, { resize: "10x", page: 2, convert: undefined });
    expect(address).toBe(`${baseUrl}/api/images/${ID}.${format}?resize=10x&page=2`);
    expect(parseImageAddress(address)).toEqual({ baseUrl, id: ID, pin: null });
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
