import { sharedFile } from "../../packages/web/browser/upload/share-texts.ts";
import { shareTexts } from "../../packages/web/src/share.ts";
import "../../packages/web/test/english.ts";
import { OutriggerError } from "@outrigger/client";
import { describe, expect, test } from "vitest";
import { readSaved, type SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import {
  changedImage,
  isGoneForGood,
  type SavedChange,
} from "../../packages/web/browser/saved/saved-list.ts";
import { checkSaved, dueForCheck } from "../../packages/web/browser/upload/store/list-checks.ts";

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

describe("a saved image without an expiry", () => {
  const kept = image("k", { expiresAt: null });

  test("it is read from storage", () => {
    expect(readSaved(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
    expect(readSaved({ ...kept, expiresAt: undefined })).toBe(null);
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
          return { name: `new ${id[0]}`, description: null, expiresAt: "2031-01-01T00:00:00.000Z" };
        },
        onChecked: (_image, change) => changes.push(change),
      },
    );
    expect([pauseMs, most, changes.length]).toEqual([0, 4, 8]);
    expect(changes.map(({ name }) => name).sort()).toEqual([..."abcdefgh"].map((each) => `new ${each}`));
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
    const whole = image("a", { checkedAt: 1, unavailable: "withheld" });
    expect(readSaved(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    // Earlier versions also saved a pending removal, the file and a placeholder.
    const more = { leaving: { from: "service", atMs: 2 }, file: { name: "f" }, placeholder: "AAAA" };
    expect(readSaved({ ...whole, ...more })).toEqual(whole);
    const broken = { checkedAt: "1", unavailable: "bored" };
    expect(readSaved({ ...image("a"), ...broken })).toEqual(image("a"));
  });

  test("a change to undefined removes the field", () => {
    const withheld = image("a", { unavailable: "withheld", checkedAt: 5 });
    expect(changedImage(withheld, { unavailable: undefined, name: "new" })).toEqual(
      image("a", { checkedAt: 5, name: "new" }),
    );
  });
});

describe("copied snippets", () => {
  const id = "A".repeat(22);
  const image = { id, name: '<b>[1]*"', type: "image/png", url: `https://example.com/img/${id}` };

  test("names are escaped in Markdown and HTML snippets", () => {
    const file = `https://example.com/img/api/images/${id}.png`;
    const textsOf = (change: object) => Object.fromEntries(shareTexts(sharedFile({ ...image, ...change })));
    expect(textsOf({})).toEqual({
      "Direct link": file,
      Markdown: `[![\\<b\\>\\[1\\]\\*"](${file})](${image.url}/view)`,
      HTML: `<a href="${image.url}/view"><img src="${file}" alt="&lt;b&gt;[1]*&quot;"></a>`,
      BBCode: `[url=${image.url}/view][img]${file}[/img][/url]`,
    });
    expect(textsOf({ type: "application/pdf" })["Direct link"]).toBe(file);
    const { Markdown, HTML } = textsOf({ name: "x", description: 'Two "boats" [at] <dusk>' });
    expect(Markdown).toBe(`[![Two "boats" \\[at\\] \\<dusk\\>](${file})](${image.url}/view)`);
    expect(HTML).toContain('alt="Two &quot;boats&quot; [at] &lt;dusk&gt;"></a>');
  });
});
