import { expect, test } from "vitest";
import { matchRoute } from "./routes.ts";

const id = "AbCdEfGhIjKlMnOpQrSt_-";

test.each([
  ["/api/images.json", ["/api/images.json", ""]],
  ["/api/images.txt/", ["/api/images.txt", ""]],
  ["/api/images.xml", ["/api/images/*", "xml"]],
  ["/api/images", ["/api/images/*", ""]],
  ["/api/images/", ["/api/images/*", ""]],
  ["/api/images//", ["/api/images/*", ""]],
  [`/api/images/${id}.json`, ["/api/images/{id}.json", id]],
  [`/api/images/${id}.json/`, ["/api/images/{id}.json", id]],
  [`/api/images/${id}.jpg`, ["/api/images/{id}.jpg", id]],
  [`/api/images/${id}.jpeg`, ["/api/images/{id}.jpg", id]],
  [`/api/images/${id}.avif`, ["/api/images/{id}.avif", id]],
  [`/api/images/${id}.bmp`, ["/api/images/*", "bmp"]],
  [`/api/images/${id}.PNG`, ["/api/images/*", "PNG"]],
  [`/api/images/${id}.constructor`, ["/api/images/*", "constructor"]],
  [`/api/images/${id}`, ["/api/images/*", ""]],
  [`/api/images/${id}x.png`, ["/api/images/*", ""]],
  ["/api/images/..%2f..%2fetc.png", ["/api/images/*", ""]],
  ["/api/images/../../../x.png", ["/api/images/*", ""]],
  [`/api/images/${id}/x.png`, ["/api/images/*", ""]],
  ["/api/imagesque", undefined],
  ["/api", ["/api", ""]],
  ["/api/", ["/api", ""]],
  ["/api/openapi.json", ["/api/openapi.json", ""]],
  ["/api/other.json", undefined],
  ["/", ["/", ""]],
  ["/assets/upload-Bx3_-9.js", ["/assets/{name}", "upload-Bx3_-9.js"]],
  ["/assets/a/b.js", undefined],
  ["/assets/%2e%2e", undefined],
  ["/sharex.sxcu", ["/sharex.sxcu", ""]],
  [`/${id}`, ["/{id}", id]],
  [`/${id}/view`, ["/{id}/view", id]],
  [`/${id}/edit`, ["/{id}/edit", id]],
  [`/${id}/other`, undefined],
  [`/${id}x`, undefined],
  ["/host", undefined],
])("%s", (path, expected) => {
  const matched = matchRoute(path);
  expect(matched && [matched.route, matched.name]).toEqual(expected);
});
