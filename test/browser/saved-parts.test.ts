import { OutriggerError } from "@outrigger/client";
import { describe, expect, test } from "vitest";
import { checkSaved, dueForCheck } from "../../packages/web/browser/saved/check-saved.ts";
import { expirySteps, expiryText } from "../../packages/web/browser/saved/expiry.ts";
import { linksFileText, readLinksFile } from "../../packages/web/browser/saved/links-file.ts";
import { readSaved, type SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import {
  changedImage,
  isGoneForGood,
  type SavedChange,
} from "../../packages/web/browser/saved/saved-list.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2030-01-01T00:00:00Z");

const image = (letter: string, more: Partial<SavedImage> = {}): SavedImage => ({
  id: letter.repeat(22),
  name: `${letter}.png`,
  pin: "0123456789ABCDEF",
  url: `https://example.com/img/${letter.repeat(22)}`,
  type: "image/png",
  expiresAt: new Date(NOW + DAY_MS).toISOString(),
  ...more,
});

const refusal = (status: number, detail = "", retryAfterMs: number | null = null) =>
  new OutriggerError({ status, title: "", detail, retryAfterMs });

describe("expiry of a saved image", () => {
  test.each([
    [-1, "expired"],
    [59_000, "expires in less than a minute"],
    [MINUTE_MS, "expires in 1 minute"],
    [2 * HOUR_MS - 1, "expires in 119 minutes"],
    [24 * HOUR_MS - 1, "expires in 23 hours"],
    [29.9 * DAY_MS, "expires in 29 days"],
  ])("an image with %i ms left %s", (leftMs, text) => {
    expect(expiryText(new Date(NOW + leftMs).toISOString(), NOW)).toBe(text);
  });

  test("the steps start at the current expiry, end at the longest lifetime, and say so", () => {
    const steps = (ms: number, maxLifetimeMs = 10 * DAY_MS) =>
      expirySteps(new Date(NOW + ms).toISOString(), { nowMs: NOW, maxLifetimeMs });
    const longest = { label: "Extend to 10 days", atMs: NOW + 10 * DAY_MS - 5 * MINUTE_MS };
    expect(steps(DAY_MS)).toEqual([{ label: "+1 day", atMs: NOW + 2 * DAY_MS }, longest]);
    expect(steps(DAY_MS, 365 * DAY_MS).map(({ label }) => label)).toEqual(["+1 day", "+30 days"]);
    expect(steps(9.5 * DAY_MS)).toEqual([longest]);
    expect(steps(longest.atMs - NOW)).toEqual([]);
  });
});

describe("a saved image without an expiry", () => {
  const kept = image("k", { expiresAt: null });

  test("it is read from storage and from replies, says so, and has nothing to extend", () => {
    expect(readSaved(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
    expect(readSaved({ ...kept, expiresAt: undefined })).toBe(null);
    expect(expiryText(null, NOW)).toBe("never expires");
    expect(expirySteps(null, { nowMs: NOW, maxLifetimeMs: Number.POSITIVE_INFINITY })).toEqual([]);
    expect(linksFileText([kept], "https://example.com/img", NOW)).toContain("k.png\nnever expires\nhttps://");
  });

  test("it stays listed while it is missing, and takes and loses an expiry", () => {
    expect(isGoneForGood({ ...kept, unavailable: "missing" }, NOW + 1e6 * DAY_MS)).toBe(false);
    expect(isGoneForGood({ ...kept, unavailable: "deleted" }, NOW)).toBe(true);
    const expiresAt = new Date(NOW).toISOString();
    expect(changedImage(kept, { expiresAt })).toEqual({ ...kept, expiresAt });
    expect(changedImage(image("a"), { expiresAt: null })).toEqual(image("a", { expiresAt: null }));
  });
});

describe("checks of the saved list", () => {
  test("entries checked within the last minute and entries that are gone are not due", () => {
    const list = [
      image("a", { checkedAt: NOW - 30_000 }),
      image("b", { checkedAt: NOW - 61_000 }),
      image("c"),
      image("d", { unavailable: "deleted" }),
      image("e", { unavailable: "withheld", checkedAt: NOW - HOUR_MS }),
      // A clock that was set back must not stop the checks.
      image("f", { checkedAt: NOW + HOUR_MS }),
    ];
    expect(dueForCheck(list, NOW).map(({ id }) => id[0])).toEqual(["c", "e", "b", "f"]);
    const many = Array.from({ length: 500 }, () => image("a"));
    expect(dueForCheck(many, NOW)).toHaveLength(200);
  });

  test("at most four reads run at once, and every reply changes its entry", async () => {
    let running = 0;
    let most = 0;
    const changes: SavedChange[] = [];
    const pauseMs = await checkSaved(
      [..."abcdefgh"].map((letter) => image(letter)),
      {
        async read(id) {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          const placeholder = id[0] === "a" ? null : "IPgBBYDpX4uWhVNlW/hzirPy/lu5";
          return { name: `new ${id[0]}`, expiresAt: "2031-01-01T00:00:00.000Z", placeholder };
        },
        onChecked: (_image, change) => changes.push(change),
      },
    );
    expect([pauseMs, most, changes.length]).toEqual([0, 4, 8]);
    expect(changes.map(({ name }) => name).sort()).toEqual([..."abcdefgh"].map((each) => `new ${each}`));
    expect(changes.map(({ placeholder }) => placeholder?.length)).toEqual([undefined, ...Array(7).fill(28)]);
  });

  test.each([
    [refusal(410, "This image expired at 2030-01-01T00:00:00.000Z."), "expired"],
    [refusal(410, "This image was deleted."), "deleted"],
    [refusal(404), "missing"],
    [refusal(451), "withheld"],
    [refusal(403), undefined],
  ])("the refusal %o marks the entry as %s", async (error, unavailable) => {
    const changes: SavedChange[] = [];
    await checkSaved([image("a")], {
      read: () => Promise.reject(error),
      onChecked: (_image, change) => changes.push(change),
    });
    expect(changes).toEqual([{ checkedAt: expect.any(Number), ...(unavailable && { unavailable }) }]);
  });

  test.each([
    [refusal(429, "", 30_000), 30_000],
    [refusal(503), 60_000],
    [refusal(0), 60_000],
    [new TypeError("bug"), 60_000],
  ])("after %o no further image is asked for, and no entry changes", async (error, expected) => {
    let reads = 0;
    const pauseMs = await checkSaved(
      [..."abcdefgh"].map((letter) => image(letter)),
      {
        read() {
          reads += 1;
          return Promise.reject(error);
        },
        onChecked: () => expect.unreachable(),
      },
    );
    expect([pauseMs, reads]).toEqual([expected, 4]);
  });

  test("only a deleted or expired image is gone for good, and a missing one after its expiry", () => {
    const isGone = (more: Partial<SavedImage>) => isGoneForGood(image("a", more), NOW);
    const past = new Date(NOW - 1).toISOString();
    expect([isGone({ unavailable: "deleted" }), isGone({ unavailable: "expired" })]).toEqual([true, true]);
    expect([isGone({ unavailable: "missing" }), isGone({ unavailable: "missing", expiresAt: past })]).toEqual(
      [...[false, true]],
    );
    expect([isGone({ unavailable: "withheld", expiresAt: past }), isGone({ expiresAt: past })]).toEqual([
      ...[false, false],
    ]);
  });
});

describe("entries of the saved list", () => {
  test("optional fields survive the storage, and invalid ones are dropped", () => {
    const whole = image("a", {
      checkedAt: 1,
      unavailable: "withheld",
      leaving: { from: "service", atMs: 2 },
      file: { name: "f", size: 3, sha256: "ab" },
    });
    expect(readSaved(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    const broken = { checkedAt: "1", unavailable: "bored", leaving: { atMs: "2" }, file: 4 };
    expect(readSaved({ ...image("a"), ...broken })).toEqual(image("a"));
  });

  test("a change to undefined removes the field", () => {
    const leaving = image("a", { leaving: { from: "list", atMs: 1 }, checkedAt: 5 });
    expect(changedImage(leaving, { leaving: undefined, name: "new" })).toEqual(
      image("a", { checkedAt: 5, name: "new" }),
    );
  });
});

describe("the file of edit links", () => {
  const text = linksFileText(
    [image("a", { name: "Boot & Söhne" }), image("b")],
    "https://example.com/img",
    NOW,
  );

  test("the file has name, expiry and edit link of every image", () => {
    expect(text).toContain("Boot & Söhne\nexpires 2 Jan 2030");
    expect(text).toContain(`\nhttps://example.com/img/${"b".repeat(22)}/edit?pin=0123456789ABCDEF\n`);
  });

  test("links are found in any text, each once", () => {
    const keys = [image("a"), image("b")].map(({ id, pin }) => ({ id, pin }));
    expect(readLinksFile(text)).toEqual(keys);
    expect(readLinksFile(`> ${text.replaceAll("\n", "\r\n> ")}${text}`)).toEqual(keys);
    expect(readLinksFile("https://example.com/img/short/edit?pin=0123456789ABCDEF")).toEqual([]);
    expect(readLinksFile(`${"a".repeat(22)}/edit?pin=${"0".repeat(40)}`)).toEqual([]);
  });
});
