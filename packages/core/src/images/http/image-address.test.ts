import { expect, test } from "vitest";
import { matchImageAddress } from "./image-address.ts";

const id = "AbCdEfGhIjKlMnOpQrSt_-";

test.each([
  ["/api/images.json", { kind: "collection", suffix: "json" }],
  ["/api/images.txt/", { kind: "collection", suffix: "txt" }],
  ["/api/images.xml", { kind: "unknown_format", suffix: "xml" }],
  ["/api/images", { kind: "nothing" }],
  ["/api/images/", { kind: "nothing" }],
  ["/api/images//", { kind: "nothing" }],
  [`/api/images/${id}.json`, { kind: "record", id }],
  [`/api/images/${id}.json/`, { kind: "record", id }],
  [`/api/images/${id}.jpg`, { kind: "bytes", id, format: "jpg" }],
  [`/api/images/${id}.jpeg`, { kind: "bytes", id, format: "jpg" }],
  [`/api/images/${id}.avif`, { kind: "bytes", id, format: "avif" }],
  [`/api/images/${id}.bmp`, { kind: "unknown_format", suffix: "bmp" }],
  [`/api/images/${id}.PNG`, { kind: "unknown_format", suffix: "PNG" }],
  [`/api/images/${id}.constructor`, { kind: "unknown_format", suffix: "constructor" }],
  [`/api/images/${id}`, { kind: "nothing" }],
  [`/api/images/${id}x.png`, { kind: "nothing" }],
  ["/api/images/..%2f..%2fetc.png", { kind: "nothing" }],
  ["/api/images/../../../x.png", { kind: "nothing" }],
  [`/api/images/${id}/x.png`, { kind: "nothing" }],
  ["/api/imagesque", undefined],
  ["/api", { kind: "reference" }],
  ["/api/", { kind: "reference" }],
  ["/api/openapi.json", { kind: "description" }],
  ["/api/other.json", undefined],
  ["/", { kind: "front" }],
  ["/assets/upload-Bx3_-9.js", { kind: "asset", name: "upload-Bx3_-9.js" }],
  ["/assets/a/b.js", undefined],
  ["/assets/%2e%2e", undefined],
  ["/sharex.sxcu", { kind: "sharex" }],
  [`/${id}`, { kind: "landing", id }],
  [`/${id}/view`, { kind: "viewer", id }],
  [`/${id}/edit`, { kind: "editor", id }],
  [`/${id}/other`, undefined],
  [`/${id}x`, undefined],
  ["/host", undefined],
])("%s", (path, expected) => {
  expect(matchImageAddress(path)).toEqual(expected);
});
