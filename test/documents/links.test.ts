import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { type Page, proseOf, ROOT, readPages } from "./pages.ts";

const pages = await readPages();
const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: Page): Set<string> {
  const slugs = new Set<string>();
  for (const [, heading = ""] of proseOf(page).matchAll(/^#{1,6} +(.*)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = text.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-");
    let unique = slug;
    for (let count = 1; slugs.has(unique); count++) unique = `${slug}-${count}`;
    slugs.add(unique);
  }
  return slugs;
}

/** Every link and picture, each with its line. */
function linksOf(page: Page): { line: number; target: string }[] {
  return proseOf(page)
    .split("\n")
    .flatMap((text, index) =>
      [...text.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(<?([^)>\s]*)>?[^)]*\)/g)].map(([, target = ""]) => ({
        line: index + 1,
        target,
      })),
    );
}

function faultOf(page: Page, target: string): string | null {
  if (/^[a-z]+:/i.test(target)) return externalFault(target);
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page.path : normalize(join(dirname(page.path), decodeURIComponent(path)));
  if (file.startsWith("..") || !existsSync(join(ROOT, file))) return "there is no such file";
  if (anchor === undefined) return null;
  const folder = statSync(join(ROOT, file)).isDirectory();
  const headings = anchors.get(folder ? join(file, "README.md") : file);
  return headings?.has(anchor) ? null : "there is no such heading";
}

function externalFault(target: string): string | null {
  if (!URL.canParse(target)) return "it is not a URL";
  const { protocol, username, password } = new URL(target);
  if (username !== "" || password !== "") return "it has credentials";
  return ["https:", "mailto:"].includes(protocol) ? null : "it is not https";
}

test.each(pages.map((page) => [page.path, page] as const))("every link of %s leads somewhere", (_, page) => {
  const dead = linksOf(page).flatMap(({ line, target }) => {
    const fault = faultOf(page, target);
    return fault === null ? [] : [`${page.path}:${line}: ${target}: ${fault}`];
  });
  expect(dead.join("\n")).toBe("");
});

test("links are found: to pages, to headings, to tests and to other sites", () => {
  const targets = pages.flatMap((page) => linksOf(page).map(({ target }) => target));
  for (const kind of [/\.md$/, /\.md#/, /\.test\.ts$/, /^https:/]) {
    expect(targets.filter((target) => kind.test(target)).length).toBeGreaterThan(10);
  }
});
