import "../../packages/web/test/english.ts";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../packages/web/browser/upload/config.ts";
import { outcomeOf } from "../../packages/web/browser/upload/sending/outcome.ts";
import {
  expiryOf,
  type LifetimeBounds,
  lifetimeFault,
  localDateValue,
} from "../../packages/web/browser/upload/store/next-options.ts";
import {
  announcementText,
  headingText,
  tabTitle,
  totalsOf,
} from "../../packages/web/browser/upload/store/totals.ts";
import type { Stage, Upload } from "../../packages/web/browser/upload/store/uploads.ts";
import { durationText, lifetimeChoices } from "../../packages/web/src/time-left.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2030-01-01T00:00:00Z");

test("the page uploads to its own origin, whatever public address the service has", () => {
  const place = { origin: "https://other.example", pathname: "/img/" };
  for (const base of ["https://other.example/img", "https://public.example/pictures", "nonsense"])
    expect(readConfig({ base }, place).baseUrl).toBe("https://other.example/img");
});

describe("lifetimes on the upload page", () => {
  const year = { defaultLifetimeMs: DAY_MS, maxLifetimeMs: 365 * DAY_MS };
  const never = Number.POSITIVE_INFINITY;
  const choices = (bounds: Parameters<typeof lifetimeChoices>[0]) =>
    lifetimeChoices(bounds).map(durationText).join(", ");

  test("the choices include the default and the longest lifetime, and none longer", () => {
    expect(choices(year)).toBe("1 hour, 1 day, 7 days, 30 days, 365 days");
    const short = { defaultLifetimeMs: 2 * DAY_MS, maxLifetimeMs: 10 * DAY_MS };
    expect(choices(short)).toBe("1 hour, 1 day, 2 days, 7 days, 10 days");
    const tiny = { defaultLifetimeMs: 90_000, maxLifetimeMs: 30 * 60_000 };
    expect(choices(tiny)).toBe("1.5 minutes, 30 minutes");
    for (const more of [{ defaultLifetimeMs: DAY_MS }, { defaultLifetimeMs: null }, {}])
      expect(choices({ maxLifetimeMs: null, ...more })).toBe(
        "1 hour, 1 day, 7 days, 30 days, 365 days, Never",
      );
  });

  test("the default sends no expiresAt, Never sends null, and the longest stays below the server's limit", () => {
    const unbounded = { defaultLifetimeMs: DAY_MS, maxLifetimeMs: never };
    const sent = (ms: number, bounds: LifetimeBounds = year) => expiryOf({ kind: "for", ms }, NOW, bounds);
    expect([sent(DAY_MS), sent(never, { ...unbounded, defaultLifetimeMs: never })]).toEqual([
      undefined,
      undefined,
    ]);
    expect(sent(HOUR_MS)).toBe("2030-01-01T01:00:00.000Z");
    expect(sent(365 * DAY_MS)).toBe("2030-12-31T23:55:00.000Z");
    expect(sent(never, unbounded)).toBeNull();
    const text = localDateValue(NOW + 3000 * DAY_MS);
    expect(lifetimeFault({ kind: "until", text }, NOW, unbounded)).toBe(null);
    expect(expiryOf({ kind: "until", text }, NOW, unbounded)).toBe("2038-03-20T00:00:00.000Z");
  });

  test("a date has a fault if it is missing, past or beyond the longest lifetime", () => {
    const faultOf = (text: string) => lifetimeFault({ kind: "until", text }, NOW, year);
    expect(faultOf("")).toBe("Enter a date and a time.");
    expect(faultOf("2029-12-31T23:59Z")).toBe("Choose a time in the future.");
    expect(faultOf("2030-01-01T00:01Z")).toBeNull();
    expect(faultOf("2030-12-31T23:55Z")).toBeNull();
    expect(faultOf("2030-12-31T23:56Z")).toMatch(/^At most 365 days: 31 Dec 2030/);
  });
});

describe("outcome of a refused upload", () => {
  const refusal = { status: 0, detail: "", retryAfterMs: null };

  test("a 429 and a 503 are retried after their Retry-After, and a broken connection with growing delays, then given up", () => {
    for (const status of [429, 503])
      expect(outcomeOf({ ...refusal, status, retryAfterMs: 7000 }, 0)).toEqual({
        ...{ kind: "again", cause: "busy" },
        delayMs: 7000,
      });
    const delays = Array.from({ length: 8 }, (_, before) => {
      const outcome = outcomeOf(refusal, before);
      return outcome.kind === "again" ? outcome.delayMs : outcome.canRetry;
    });
    expect(delays).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, true, true]);
  });

  test("a key still in progress is retried, and a key used for another upload is given up", () => {
    expect(outcomeOf({ ...refusal, status: 409, retryAfterMs: 2000 }, 0)).toMatchObject({ kind: "again" });
    expect(outcomeOf({ ...refusal, status: 409 }, 0)).toMatchObject({ kind: "failed", isSettled: true });
  });

  test("other statuses fail with the server's reason, and are settled and can be retried by their status", () => {
    for (const [status, detail, canRetry, isSettled] of [
      [200, "Check whether this network needs a login.", true, true],
      [400, "expiresAt must be in the future", true, true],
      [403, "Not you.", true, true],
      [413, "Too large.", false, true],
      [415, "Not an image.", false, true],
      [500, "Oops.", true, false],
      [507, "Full.", true, false],
    ] as const) {
      const outcome = outcomeOf({ ...refusal, status, detail }, 0);
      const message = expect.stringContaining(detail.slice(0, -1));
      expect(outcome).toMatchObject({ kind: "failed", canRetry, isSettled, message });
    }
  });
});

describe("the totals of the upload page", () => {
  const READY: Stage = { kind: "ready" };
  const HELD: Stage = { kind: "ready", isHeld: true };
  const QUEUED: Stage = { kind: "queued" };
  const FAILED: Stage = { kind: "failed", message: "No.", canRetry: true };
  const file = new File([new Uint8Array(1024 * 1024)], "a.png");
  const many = (amount: number, stage: Stage, batch = 0) =>
    Array.from(
      { length: amount },
      (_, index): Upload => ({
        key: `${batch} ${index}`,
        ...{ batch, name: "a.png", label: null, previewUrl: null, stage, loss: null, image: null },
        chosen: { file, type: "image/png", name: "a.png", lifetime: { kind: "for", ms: 1 }, at: 0 },
      }),
    );

  test("heading, title and announcement count what is ready, active, held and refused", () => {
    const active = [
      ...many(37, READY),
      ...many(1, { kind: "sending", sentBytes: 512 * 1024 }),
      ...many(1, { kind: "processing" }),
      ...many(61, QUEUED),
    ];
    const plain = "Upload images";
    for (const [uploads, heading, title, said] of [
      [
        active,
        "Uploading: 37 of 100 · 38.5 MB of 100 MB",
        `(37/100) Uploading – ${plain}`,
        "37 of 100 uploaded.",
      ],
      [many(1, READY), "Your image is ready to share", plain, "1 uploaded."],
      [many(7, READY), "7 images are ready to share", plain, "7 uploaded."],
      [many(1, HELD), "1 uploaded · 1 waiting for review", plain, "1 uploaded."],
      [
        [...many(1, HELD), ...many(1, READY), ...many(1, FAILED)],
        ...["2 uploaded · 1 waiting for review · 1 not uploaded", `(1 failed) ${plain}`],
        "2 uploaded. 1 not uploaded.",
      ],
      [many(1, FAILED), "Upload failed", `(1 failed) ${plain}`, "1 not uploaded."],
      [many(5, FAILED), "5 not uploaded", `(5 failed) ${plain}`, "5 not uploaded."],
    ] as [Upload[], string, string, string][]) {
      const totals = totalsOf(uploads);
      expect([headingText(totals), tabTitle(totals, plain), announcementText(totals)]).toEqual([
        ...[heading, title, said],
      ]);
    }
  });

  test("the progress leaves out batches that ended before, and bytes of a request beyond its file", () => {
    const uploads = [...many(1, READY, 1), ...many(1, QUEUED, 1), ...many(16, READY)];
    expect(totalsOf(uploads)).toMatchObject({ done: 1, wanted: 2, ready: 17 });
    expect(totalsOf(many(1, { kind: "sending", sentBytes: 2 ** 20 + 900 })).sentBytes).toBe(2 ** 20);
  });
});
