import { expect, it } from "vitest";
import { parametersOf } from "./get.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";

it.each([
  [
    `https://example.com/img/api/images/${ID}.jpeg?resize=800x&convert=low`,
    "jpg",
    { resize: "800x", convert: "low" },
  ],
  [`https://example.com/api/images/${ID}.webp?preset=a`, "webp", { preset: "a" }],
  [`https://example.com/api/images/${ID}.pdf?page=3`, "pdf", { page: "3" }],
  [`https://example.com/api/images/${ID}.json`, undefined, {}],
  [
    `https://example.com/api/images/${ID}.png?preset=thumb&until=5&s=aB`,
    "png",
    { preset: "thumb", s: "aB", until: "5" },
  ],
  [`https://example.com/api/images/${ID}.png?page=0`, "png", { page: "0" }],
  [ID, undefined, {}],
])("parametersOf reads format and options from %s", (address, format, options) => {
  expect(parametersOf(address)).toEqual({ format, options });
});
