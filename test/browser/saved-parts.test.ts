import "../../packages/web/test/english.ts";
import { OutriggerError } from "@outrigger/client";
import { describe, expect, test } from "vitest";
import { readSaved, type SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import {
  changedImage,
  isGoneForGood,
  type SavedChange,
} from "../../packages/web/browser/saved/saved-list.ts";
import { sharedFile } from "../../packages/web/browser/upload/share-texts.ts";
import { checkSaved, dueForCheck } from "../../packages/web/browser/upload/store/list-checks.ts";
import { shareTexts } from "../../packages/web/src/share.ts";

const HOUR_MS = 3_600_000;
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

describe("checks of the saved list", () => {
  const eight = [..."abcdefgh"].map((letter) => image(letter));

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
    let [running, most] = [0, 0];
    const changes: SavedChange[] = [];
    const pauseMs = await checkSaved(eight, {
      async read(id) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { name: `new ${id[0]}`, description: null, expiresAt: "2031-01-01T00:00:00.000Z" };
      },
      onChecked: (_image, change) => changes.push(change),
    });
    expect([pauseMs, most]).toEqual([0, 4]);
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
    const pauseMs = await checkSaved(eight, {
      read() {
        reads += 1;
        return Promise.reject(error);
      },
      onChecked: () => expect.unreachable(),
    });
    expect([pauseMs, reads]).toEqual([expected, 4]);
  });

  test("only a deleted or expired image is gone for good, and a missing one after its expiry", () => {
    const past = new Date(NOW - 1).toISOString();
    for (const [more, isGone] of [
      [{ unavailable: "deleted" }, true],
      [{ unavailable: "expired" }, true],
      [{ unavailable: "missing" }, false],
      [{ unavailable: "missing", expiresAt: past }, true],
      [{ unavailable: "missing", expiresAt: null }, false],
      [{ unavailable: "withheld", expiresAt: past }, false],
      [{ expiresAt: past }, false],
    ] as const)
      expect([more, isGoneForGood(image("a", more), NOW)]).toEqual([more, isGone]);
  });
});

test("an entry in local storage keeps its own fields alone, and is ignored where one that it needs is wrong", () => {
  for (const whole of [
    image("a", { checkedAt: 1, unavailable: "withheld" }),
    image("a", { expiresAt: null }),
  ])
    expect(readSaved({ ...JSON.parse(JSON.stringify(whole)), more: 1 })).toEqual(whole);
  expect(readSaved({ ...image("a"), checkedAt: "1", unavailable: "bored" })).toEqual(image("a"));
  for (const wrong of [{ url: "javascript:alert(1)" }, { expiresAt: "soon" }, { expiresAt: undefined }])
    expect(readSaved({ ...image("a"), ...wrong })).toBeNull();
  expect([readSaved(null), readSaved("x"), readSaved({})]).toEqual([null, null, null]);
});

test("a change to undefined removes the field of an entry", () => {
  const withheld = image("a", { unavailable: "withheld", checkedAt: 5 });
  const change = { unavailable: undefined, name: "new", expiresAt: null };
  expect(changedImage(withheld, change)).toEqual(image("a", { checkedAt: 5, name: "new", expiresAt: null }));
});

test("names and descriptions are escaped in Markdown and HTML snippets", () => {
  const { url, ...named } = image("A", { name: '<b>[1]*"' });
  const file = `https://example.com/img/api/images/${named.id}.png`;
  const textsOf = (change: object) =>
    Object.fromEntries(shareTexts(sharedFile({ ...named, url, ...change })));
  expect(textsOf({})).toEqual({
    "Direct link": file,
    Markdown: `[![\\<b\\>\\[1\\]\\*"](${file})](${url}/view)`,
    HTML: `<a href="${url}/view"><img src="${file}" alt="&lt;b&gt;[1]*&quot;"></a>`,
    BBCode: `[url=${url}/view][img]${file}[/img][/url]`,
  });
  expect(textsOf({ type: "application/pdf" })["Direct link"]).toBe(file);
  const { Markdown, HTML } = textsOf({ name: "x", description: 'Two "boats" [at] <dusk>' });
  expect(Markdown).toBe(`[![Two "boats" \\[at\\] \\<dusk\\>](${file})](${url}/view)`);
  expect(HTML).toContain('alt="Two &quot;boats&quot; [at] &lt;dusk&gt;"></a>');
});
