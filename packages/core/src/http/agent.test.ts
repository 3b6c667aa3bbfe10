import { expect, test } from "vitest";
import { parseAgent } from "./agent.ts";

test.each([
  ["curl/8.5.0", { name: "curl", version: "8.5.0" }],
  ["Mozilla/5.0 (X11; Linux) Gecko/20100101", { name: "Mozilla", version: "5.0" }],
  ["ShareX", { name: "ShareX", version: null }],
  ["Wget/1.21(x)", { name: "Wget", version: "1.21" }],
  ["  a/b  ", { name: "a", version: "b" }],
  ["<script>alert(1)</script>", null],
  ["curl/8.5.0<b>", null],
  ["(just a comment)", null],
  ["", null],
  [`${"x".repeat(60)}/1.0`, { name: "x".repeat(60), version: "1.0" }],
  [`${"x".repeat(64)}/1`, null],
  ["näme/1", null],
])("parseAgent reads the first product of User-Agent %j", (header, expected) => {
  expect(parseAgent(header)).toEqual(expected);
});
