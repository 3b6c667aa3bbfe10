import { expect, test } from "vitest";
import { parseAgent } from "./request-headers.ts";

test.each([
  ["curl/8.5.0", { name: "curl", version: "8.5.0" }],
  ["Mozilla/5.0 (X11; Linux) Gecko/20100101", { name: "Mozilla", version: "5.0" }],
  ["ShareX", { name: "ShareX", version: null }],
  ["Wget/1.21(x)", { name: "Wget", version: "1.21" }],
  ["  a/b  ", { name: "a", version: "b" }],
  ["<script>alert(1)</script>", null],
  ["curl/8.5.0<b>", null],
  ["(just a comment)", null],
  ["(X11; Linux) curl/8.5.0", { name: "curl", version: "8.5.0" }],
  ["(a (nested (deep)) comment)\t(another) ShareX/13 (x)", { name: "ShareX", version: "13" }],
  ["(quoted \\) pair \\\\)curl/8", { name: "curl", version: "8" }],
  ["() a/b", { name: "a", version: "b" }],
  ["(never closed curl/8.5.0", null],
  ["(closed) ) curl/8.5.0", null],
  [`(${"x".repeat(5000)}) curl/8.5.0`, { name: "curl", version: "8.5.0" }],
  ["", null],
  [`${"x".repeat(60)}/1.0`, { name: "x".repeat(60), version: "1.0" }],
  [`${"x".repeat(64)}/1`, null],
  ["näme/1", null],
])("parseAgent reads the first product of User-Agent %j", (header, expected) => {
  expect(parseAgent(header)).toEqual(expected);
});
