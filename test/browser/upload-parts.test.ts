import "../../packages/web/test/english.ts";
import { describe, expect, test } from "vitest";
import { readSaved, type SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import { readConfig } from "../../packages/web/browser/upload/config.ts";
import { outcomeOf } from "../../packages/web/browser/upload/sending/outcome.ts";
import {
  expiryOf,
  lifetimeFault,
  localDateValue,
  NextOptions,
} from "../../packages/web/browser/upload/store/next-options.ts";
import { earlierUpload, withSaved } from "../../packages/web/browser/upload/store/uploads.ts";
import { durationText, lifetimeChoices } from "../../packages/web/src/time-left.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2030-01-01T00:00:00Z");
const refusal = { status: 0, detail: "", retryAfterMs: null };

describe("the address of the API on the upload page", () => {
  const place = { origin: "https://other.example", pathname: "/img/" };

  test.each([
    ["https://other.example/img", "https://other.example/img"],
    ["https://public.example/pictures", "https://other.example/img"],
    ["nonsense", "https://other.example/img"],
  ])("with an API base of %s, the page uploads to %s", (base, expected) => {
    expect(readConfig({ base }, place).baseUrl).toBe(expected);
  });
});

describe("lifetime choices on the upload page", () => {
  const year = { defaultLifetimeMs: DAY_MS, maxLifetimeMs: 365 * DAY_MS };

  test("the choices include the default and the longest lifetime, and none longer", () => {
    expect(lifetimeChoices(year).map(durationText)).toEqual([
      "1 hour",
      "1 day",
      "7 days",
      "30 days",
      "365 days",
    ]);
    const short = { defaultLifetimeMs: 2 * DAY_MS, maxLifetimeMs: 10 * DAY_MS };
    expect(lifetimeChoices(short).map(durationText)).toEqual([
      "1 hour",
      "1 day",
      "2 days",
      "7 days",
      "10 days",
    ]);
    const tiny = { defaultLifetimeMs: 90_000, maxLifetimeMs: 30 * 60_000 };
    expect(lifetimeChoices(tiny).map(durationText)).toEqual(["1.5 minutes", "30 minutes"]);
  });

  test("the default lifetime sends no expiresAt, and the longest stays below the server's limit", () => {
    expect(expiryOf({ kind: "for", ms: DAY_MS }, NOW, year)).toBeUndefined();
    expect(expiryOf({ kind: "for", ms: HOUR_MS }, NOW, year)).toBe("2030-01-01T01:00:00.000Z");
    expect(expiryOf({ kind: "for", ms: 365 * DAY_MS }, NOW, year)).toBe("2030-12-31T23:55:00.000Z");
    expect(expiryOf({ kind: "until", text: "2030-06-01T12:00Z" }, NOW, year)).toBe(
      "2030-06-01T12:00:00.000Z",
    );
  });

  test("files wait while the date is missing, and get the date that ends the wait", () => {
    const next = new NextOptions({ ...year, maxLifetimeMs: 100 * DAY_MS * 365 }, "");
    next.lifetime.value = { kind: "until", text: "2090-06-01T12:00Z" };
    const sent: unknown[] = [];
    next.whenValid(1, () => sent.push(next.lifetime.peek()));
    next.lifetime.value = { kind: "until", text: "" };
    next.whenValid(1, () => sent.push(next.lifetime.peek()));
    expect([sent.length, next.waiting.value]).toEqual([1, 1]);
    next.lifetime.value = { kind: "until", text: "2091-06-01T12:00Z" };
    expect(sent).toEqual([
      { kind: "until", text: "2090-06-01T12:00Z" },
      { kind: "until", text: "2091-06-01T12:00Z" },
    ]);
    expect(next.waiting.value).toBe(0);
  });

  test("a date has a fault if it is missing, past or beyond the longest lifetime", () => {
    const faultOf = (text: string) => lifetimeFault({ kind: "until", text }, NOW, year);
    expect(faultOf("")).toBe("Enter a date and a time.");
    expect(faultOf("2029-12-31T23:59Z")).toBe("Choose a time in the future.");
    expect(faultOf("2030-01-01T00:01Z")).toBeNull();
    expect(faultOf("2030-12-31T23:55Z")).toBeNull();
    expect(faultOf("2030-12-31T23:56Z")).toMatch(/^At most 365 days: 31 Dec 2030/);
    expect(lifetimeFault({ kind: "for", ms: HOUR_MS }, NOW, year)).toBeNull();
  });
});

describe("lifetime choices where the service sets no longest lifetime", () => {
  const never = Number.POSITIVE_INFINITY;

  test("the choices end with Never, for a default with and without an end", () => {
    for (const defaultLifetimeMs of [DAY_MS, null, undefined]) {
      const choices = lifetimeChoices({
        maxLifetimeMs: null,
        ...(defaultLifetimeMs === undefined ? {} : { defaultLifetimeMs }),
      });
      expect(choices.map(durationText)).toEqual([
        "1 hour",
        "1 day",
        "7 days",
        "30 days",
        "365 days",
        "Never",
      ]);
    }
  });

  test("Never sends that, and nothing if it is the default", () => {
    const bounds = { defaultLifetimeMs: DAY_MS, maxLifetimeMs: never };
    expect(expiryOf({ kind: "for", ms: never }, NOW, bounds)).toBeNull();
    expect(expiryOf({ kind: "for", ms: HOUR_MS }, NOW, bounds)).toBe("2030-01-01T01:00:00.000Z");
    expect(
      expiryOf({ kind: "for", ms: never }, NOW, { ...bounds, defaultLifetimeMs: never }),
    ).toBeUndefined();
    const farMs = NOW + 3000 * DAY_MS;
    const text = localDateValue(farMs);
    expect(lifetimeFault({ kind: "until", text }, NOW, bounds)).toBe(null);
    expect(expiryOf({ kind: "until", text }, NOW, bounds)).toBe(new Date(farMs).toISOString());
  });
});

describe("outcome of a refused upload", () => {
  test.each([429, 503])("status %i is retried after its Retry-After", (status) => {
    const outcome = outcomeOf({ ...refusal, status, retryAfterMs: 7000 }, 0);
    expect(outcome).toEqual({ kind: "again", cause: "busy", delayMs: 7000 });
  });

  test("a broken connection is retried with growing delays, then given up", () => {
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

  test.each([
    [400, "expiresAt must be in the future", true, true],
    [403, "Not you.", true, true],
    [413, "Too large.", false, true],
    [415, "Not an image.", false, true],
    [500, "Oops.", true, false],
    [507, "Full.", true, false],
  ])("status %i fails with the server's reason %j", (status, detail, canRetry, isSettled) => {
    const outcome = outcomeOf({ ...refusal, status, detail }, 0);
    expect(outcome).toMatchObject({ kind: "failed", canRetry, isSettled });
    expect(outcome).toMatchObject({ message: expect.stringContaining(detail.slice(0, -1)) });
  });

  test("a reply of something else than the service says so, and can be retried", () => {
    expect(outcomeOf({ ...refusal, status: 200, detail: "Sign in" }, 0)).toMatchObject({
      message: expect.stringContaining("Check whether this network needs a login."),
      canRetry: true,
    });
  });
});

describe("the state of the list of uploads", () => {
  const saved: SavedImage = {
    id: "A".repeat(22),
    name: "a.png",
    pin: "P",
    url: `https://example.com/img/${"A".repeat(22)}`,
    type: "image/png",
    expiresAt: null,
  };

  test("an upload follows the saved data of its image, and leaves when that leaves the list", () => {
    const upload = earlierUpload(saved);
    const renamed = { ...saved, name: "b.png" };
    expect(withSaved([upload], [renamed])).toEqual([{ ...upload, name: "b.png", image: renamed }]);
    expect(withSaved([upload, { ...upload, key: "k", image: null }], [])).toMatchObject([{ key: "k" }]);
  });

  test("an image of an earlier visit is shown as ready, with the kind of its type", () => {
    expect(earlierUpload(saved)).toMatchObject({ name: "a.png", label: "PNG", stage: { kind: "ready" } });
    expect(earlierUpload({ ...saved, type: "image/other" }).label).toBeNull();
  });
});

describe("saved uploads", () => {
  const id = "A".repeat(22);
  const image = { id, name: '<b>[1]*"', type: "image/png", url: `https://example.com/img/${id}` };

  test("entries in local storage that are not images are ignored", () => {
    const whole = { ...image, pin: "P", type: "image/png", expiresAt: "2030-01-01T00:00:00Z" };
    expect(readSaved({ ...whole, more: 1 })).toEqual(whole);
    expect(readSaved({ ...whole, url: "javascript:alert(1)" })).toBeNull();
    expect(readSaved({ ...whole, expiresAt: "soon" })).toBeNull();
    expect([readSaved(null), readSaved("x"), readSaved({})]).toEqual([null, null, null]);
  });
});
