import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ADMIN_STYLE } from "./admin/admin-style.ts";
import { STYLE } from "./style.ts";

const browser = new URL("../browser/", import.meta.url);
const sheets = readdirSync(browser, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".css"))
  .map((path) => readFileSync(new URL(path, browser), "utf8"));
const css = [STYLE, ADMIN_STYLE, ...sheets].join("\n");

/** The distinct values of a property in all style sheets. */
function valuesOf(property: string): string[] {
  const found = css.matchAll(new RegExp(`[^-\\w]${property}: ([^;}]+)[;}]`, "g"));
  return [...new Set([...found].map(([, value = ""]) => value.trim()))].sort();
}

test("text has four sizes, each of them a token or the size of the body", () => {
  expect(valuesOf("font-size")).toEqual(["1rem", "var(--headline)", "var(--small)", "var(--title)"]);
});

test("one accent colours marks and controls, and a second one only what deletes", () => {
  expect(valuesOf("accent-color")).toEqual(["var(--accent)", "var(--danger)"]);
});

test("margins, padding and borders follow the direction of the text", () => {
  const physical = [ADMIN_STYLE, ...sheets]
    .join("")
    .match(/(?:margin|padding|border)-(?:left|right)|text-align: (?:left|right)/g);
  expect(physical).toBeNull();
});

test("corners have one radius", () => {
  expect(valuesOf("border-radius")).toEqual(["inherit", "var(--radius)"]);
});

test("controls have two heights, and no rule of a control sets another one", () => {
  const rules = [...css.matchAll(/([^{}]+)\{([^{}]*)\}/g)];
  const heights = rules.flatMap(([, selector = "", body = ""]) => {
    if (!/(?:^|[\s,(>])(?:button|input|select|textarea|\.(?:button|copy|main|plain|quiet))/.test(selector))
      return [];
    return [...body.matchAll(/min-height: ([^;}]+)/g)].map(([, height]) => height);
  });
  expect([...new Set(heights)].sort()).toEqual(["0", "5rem", "var(--control)", "var(--main-control)"]);
});

test("the rows of the upload page share a class with other pages only where they should look alike", () => {
  const classesIn = (text: string) =>
    new Set([...text.matchAll(/\.([a-z][a-z-]*)(?=[^{}]*\{)/g)].map(([, name = ""]) => name));
  const upload = readdirSync(new URL("upload/styles/", browser)).map((name) =>
    readFileSync(new URL(`upload/styles/${name}`, browser), "utf8"),
  );
  const shared = [...classesIn(upload.join("\n"))].filter((name) => classesIn(STYLE).has(name));
  expect(shared.sort()).toEqual(["button", "fault", "hint", "quiet", "thumbnail", "unseen"]);
});
