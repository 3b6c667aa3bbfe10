import { describe, expect, test } from "vitest";
import { readRobotsTag } from "../extract/robots-tag.ts";
import { readRobots } from "./robots-rules.ts";

const ORIGIN = "https://acme.example";

describe("readRobots", () => {
  test.each<[string, string, string, boolean]>([
    ["User-agent: *\nDisallow: /a", "/a/b", "the start of a path", false],
    ["User-agent: *\nDisallow: /a", "/b/a", "no other part of it", true],
    ["User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", "the longest rule, an Allow", true],
    ["User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", "the longest rule, a Disallow", false],
    ["User-agent: *\nDisallow: /a\nAllow: /a", "/a", "an Allow of the same length", true],
    ["User-agent: *\nDisallow: /*.php$", "/x/y.php", "a star and an end", false],
    ["User-agent: *\nDisallow: /*.php$", "/x/y.php?z", "an end only at the end", true],
    ["User-agent: *\nDisallow: /a*b*c", "/axxbyycz", "several stars", false],
    ["User-agent: *\nDisallow:", "/a", "an empty Disallow", true],
    ["User-agent: *\nDisallow: / # all", "/a", "a rule before a comment", false],
    [
      "User-agent: outrigger\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
      "/b",
      "only the group of this robot",
      true,
    ],
    ["User-agent: other\nUser-agent: Outrigger/3.1\nDisallow: /a", "/a", "a group of several robots", false],
    [
      "User-agent: outrigger\nDisallow: /a\nUser-agent: *\nDisallow: /\nUser-agent: OUTRIGGER\nDisallow: /b",
      "/b",
      "all groups of this robot",
      false,
    ],
    ["User-agent: outriggerbot\nDisallow: /", "/a", "no group of a longer name", true],
    [
      "User-agent: outrigger\nSitemap: https://acme.example/map.xml\nDisallow: /a",
      "/a",
      "a group with a sitemap within",
      false,
    ],
    [
      "User-agent: outrigger\nX: y\nUser-agent: other\nDisallow: /a",
      "/a",
      "names on both sides of an unknown line",
      false,
    ],
    ["Disallow: /", "/a", "no rule before the first name", true],
    ["User-agent: *\nDisallow: /team%2fada", "/team%2Fada", "escapes in either case", false],
    ["User-agent: *\nDisallow: /%74eam", "/team", "an escaped letter as a letter", false],
    ["User-agent: *\nDisallow: /team", "/%74eam", "a letter as an escaped letter", false],
    ["User-agent: *\nDisallow: /münchen", "/m%C3%BCnchen", "characters beyond ASCII", false],
    ["User-agent: *\nDisallow: /a[1]", "/a[1]", "brackets", false],
    ["User-agent: *\nDisallow: /search?q=", "/search?q=ada", "a query", false],
    ["User-agent: *\nDisallow: /", "/robots.txt", "never robots.txt itself", true],
    ["<html>Not found</html>", "/a", "nothing in a page of HTML", true],
  ])("%j for %s counts %s", (text, path, _what, isAllowed) => {
    expect(readRobots(ORIGIN, text).allows(new URL(path, ORIGIN))).toBe(isAllowed);
  });

  test("Crawl-delay counts in seconds, and sitemaps are listed", () => {
    const text = "User-agent: *\nCrawl-delay: 2.5\nSitemap: https://acme.example/a.xml\nsitemap:/b.xml";
    expect(readRobots(ORIGIN, text)).toMatchObject({
      delayMs: 2500,
      sitemaps: ["https://acme.example/a.xml", "/b.xml"],
    });
    for (const delay of ["-1", "soon", ""]) {
      expect(readRobots(ORIGIN, `User-agent: *\nCrawl-delay: ${delay}`).delayMs, delay).toBe(0);
    }
  });
});

test.each<[string[], boolean, boolean]>([
  [[], false, false],
  [["all"], false, false],
  [["NoIndex"], true, false],
  [["noarchive, nofollow"], true, true],
  [["none"], true, true],
  [["googlebot: noindex, nofollow"], false, false],
  [["googlebot: noindex", "outrigger: nofollow"], false, true],
  [["googlebot: noindex, outrigger: noindex"], true, false],
  [["max-snippet: 5, noindex"], true, false],
  [["unavailable_after: 25 Jun 2010 15:00:00 PST"], false, false],
  [["noindexed"], false, false],
  [["index, follow, max-image-preview:none"], false, false],
  [["max-image-preview : none"], false, false],
  [["noindex nofollow"], true, true],
  [["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], true, false],
])("X-Robots-Tag or meta robots %j: not stored %s, links not followed %s", (headers, noIndex, noFollow) => {
  expect(readRobotsTag(headers)).toEqual({ noIndex, noFollow });
});
