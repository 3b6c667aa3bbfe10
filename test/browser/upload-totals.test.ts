import "../../packages/web/test/english.ts";
import { describe, expect, test } from "vitest";
import {
  announcementText,
  headingText,
  tabTitle,
  totalsOf,
} from "../../packages/web/browser/upload/store/totals.ts";
import { failuresFirst, type Stage, type Upload } from "../../packages/web/browser/upload/store/uploads.ts";

const READY: Stage = { kind: "ready" };
const QUEUED: Stage = { kind: "queued" };
const FAILED: Stage = { kind: "failed", message: "No.", canRetry: true };

let count = 0;
const upload = (stage: Stage, batch = 0, size = 1024 * 1024): Upload => {
  const file = new File([new Uint8Array(size)], "a.png");
  return {
    key: String(count++),
    batch,
    name: "a.png",
    label: null,
    chosen: { file, type: "image/png", name: "a.png", lifetime: { kind: "for", ms: 1 }, at: 0 },
    previewUrl: null,
    stage,
    loss: null,
    image: null,
  };
};
const many = (amount: number, stage: Stage, batch = 0) =>
  Array.from({ length: amount }, () => upload(stage, batch));

describe("the totals of the upload page", () => {
  test("the heading of uploads that wait for review does not call them ready to share", () => {
    const held: Stage = { kind: "ready", isHeld: true };
    expect(headingText(totalsOf([upload(held)]))).toBe("1 uploaded · 1 waiting for review");
    expect(headingText(totalsOf([upload(held), upload(READY), upload(FAILED)]))).toBe(
      "2 uploaded · 1 waiting for review · 1 not uploaded",
    );
  });

  test("the heading counts ready and wanted files, and sent and wanted bytes", () => {
    const uploads = [
      ...many(37, READY),
      upload({ kind: "sending", sentBytes: 512 * 1024 }),
      upload({ kind: "processing" }),
      ...many(61, QUEUED),
    ];
    expect(headingText(totalsOf(uploads))).toBe("Uploading: 37 of 100 · 38.5 MB of 100 MB");
    expect(headingText(totalsOf([...uploads, ...many(5, FAILED)]))).toBe(
      "Uploading: 37 of 100 · 38.5 MB of 100 MB · 5 not uploaded",
    );
  });

  test("a request with more bytes than its file counts as the file", () => {
    expect(totalsOf([upload({ kind: "sending", sentBytes: 2 ** 20 + 900 })]).sentBytes).toBe(2 ** 20);
  });

  test("the progress leaves out batches that ended before", () => {
    const uploads = [...many(1, READY, 1), ...many(1, QUEUED, 1), ...many(16, READY)];
    expect(totalsOf(uploads)).toMatchObject({ done: 1, wanted: 2, ready: 17 });
  });

  test.each([
    [1, 0, "Your image is ready to share"],
    [7, 0, "7 images are ready to share"],
    [1, 1, "1 ready · 1 not uploaded"],
    [95, 5, "95 ready · 5 not uploaded"],
    [0, 1, "Upload failed"],
    [0, 5, "5 not uploaded"],
  ])("with %i ready and %i failed uploads, the heading is %j", (ready, failed, text) => {
    expect(headingText(totalsOf([...many(ready, READY), ...many(failed, FAILED)]))).toBe(text);
  });

  test("the tab's title counts active uploads, then failed ones, and is the page's own otherwise", () => {
    const title = (uploads: Upload[]) => tabTitle(totalsOf(uploads), "Upload images");
    expect(title([...many(37, READY), ...many(63, QUEUED)])).toBe("(37/100) Uploading – Upload images");
    expect(title([...many(95, READY), ...many(5, FAILED)])).toBe("(5 failed) Upload images");
    expect(title(many(95, READY))).toBe("Upload images");
    expect(title([])).toBe("Upload images");
  });

  test("announcements sum up ready and failed uploads", () => {
    const text = (uploads: Upload[]) => announcementText(totalsOf(uploads));
    expect(text([...many(12, READY), ...many(88, QUEUED)])).toBe("12 of 100 uploaded.");
    expect(text([...many(95, READY), ...many(5, FAILED)])).toBe("95 uploaded. 5 not uploaded.");
    expect(text(many(3, FAILED))).toBe("3 not uploaded.");
  });

  test("failed uploads come first and keep their order", () => {
    const [a, b, c, d] = [upload(READY), upload(FAILED), upload(QUEUED), upload(FAILED)];
    expect(failuresFirst([a, b, c, d])).toEqual([b, d, a, c]);
  });
});
