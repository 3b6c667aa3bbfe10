import "../../packages/web/test/english.ts";
import { expect, test } from "vitest";
import { outcomeOf } from "../../packages/web/browser/upload/sending/outcome.ts";

test("the words of a decoder do not reach the reader of the upload page", () => {
  const detail = "This cannot be read as image/jpeg: VipsJpeg: premature end of JPEG image.";
  expect(outcomeOf({ status: 415, detail, retryAfterMs: null }, 0)).toMatchObject({
    message: "This file can’t be read as an image. It is damaged or incomplete.",
  });
});
