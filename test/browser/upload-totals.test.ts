import { describe, expect, test } from "vitest";
import { timeLeftOf, withSample } from "../../packages/web/browser/upload/store/time-left.ts";
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
const upload = (stage: Stage, batch = 0, size = 1024 * 1024): Upload => ({
  ...{
    key: String(count++),
    batch,
    name: "a.png",
    size,
    label: null,
    previewUrl: null,
    image: null,
    note: null,
  },
  stage,
});
const many = (amount: number, stage: Stage, batch = 0) =>
  Array.from({ length: amount }, () => upload(stage, batch));

describe("the totals of the upload page", () => {
  test("the heading counts ready and wanted files, sent and wanted bytes, and the time left", () => {
    const uploads = [
      ...many(37, READY),
      upload({ kind: "sending", sentBytes: 512 * 1024 }),
      upload({ kind: "processing" }),
      ...many(61, QUEUED),
    ];
    expect(headingText(totalsOf(uploads), 39_500)).toBe(
      "Uploading: 37 of 100 · 38.5 MB of 100 MB · 40 s left",
    );
    expect(headingText(totalsOf(uploads), null)).toBe("Uploading: 37 of 100 · 38.5 MB of 100 MB");
    expect(headingText(totalsOf([...uploads, ...many(5, FAILED)]), 200_000)).toBe(
      "Uploading: 37 of 100 · 38.5 MB of 100 MB · 4 min left · 5 not uploaded",
    );
    expect(headingText(totalsOf(uploads), 3_900_000)).toContain("1 h 5 min left");
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
    expect(headingText(totalsOf([...many(ready, READY), ...many(failed, FAILED)]), null)).toBe(text);
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

describe("the time left", () => {
  test("the time left follows the mean rate of the samples", () => {
    const samples = [
      { atMs: 0, sentBytes: 1000 },
      { atMs: 1000, sentBytes: 1000 },
      { atMs: 4000, sentBytes: 5000 },
    ];
    expect(timeLeftOf(samples, 9000)).toBe(4000);
  });

  test("the time left is unknown below 2 s of samples and while nothing is sent", () => {
    expect(timeLeftOf([], 1)).toBeNull();
    const start = { atMs: 0, sentBytes: 5 };
    expect(timeLeftOf([start, { atMs: 1999, sentBytes: 9 }], 10)).toBeNull();
    expect(timeLeftOf([start, { atMs: 9000, sentBytes: 5 }], 10)).toBeNull();
  });

  test("samples older than 20 s are dropped, and a smaller total starts anew", () => {
    const samples = [
      { atMs: 0, sentBytes: 5 },
      { atMs: 5000, sentBytes: 9 },
    ];
    expect(withSample(samples, { atMs: 21_000, sentBytes: 10 })).toHaveLength(2);
    expect(withSample(samples, { atMs: 6000, sentBytes: 3 })).toEqual([{ atMs: 6000, sentBytes: 3 }]);
  });
});
