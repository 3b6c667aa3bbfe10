import { expect, it } from "vitest";
import { askedBy, formatOfSuffix } from "./image-formats.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";

it.each([
  [
    `https://example.com/img/api/images/${ID}.jpeg?resize=800x&convert=low`,
    "jpg",
    { resize: "800x", convert: "low" },
  ],
  [`https://example.com/api/images/${ID}.webp?convert=auto`, "webp", { convert: "auto" }],
  [`https://example.com/api/images/${ID}.pdf?page=3`, "pdf", { page: 3 }],
  [`https://example.com/api/images/${ID}.json`, null, {}],
  [
    `https://example.com/api/images/${ID}.png?preset=thumb&until=5&s=aB`,
    "png",
    { preset: "thumb", s: "aB", until: 5 },
  ],
  [`https://example.com/${ID}/edit?pin=0123456789ABCDEF`, null, {}],
  [`https://example.com/api/images/${ID}.png?page=0&convert=best&resize=`, "png", {}],
  [ID, null, {}],
])("askedBy reads format and options from %s", (address, format, options) => {
  expect(askedBy(address)).toEqual({ format, options });
});

it("formatOfSuffix accepts suffixes in upper and lower case", () => {
  expect(["JPEG", "jpg", "Avif", "json", ""].map(formatOfSuffix)).toEqual(["jpg", "jpg", "avif", null, null]);
});
