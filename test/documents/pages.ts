import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** Path of the page from the root of the repository. */
  page: string;
  /** Line of the opening fence, from 1. */
  line: number;
  /** The word behind the opening fence; empty without one. */
  lang: string;
  /** What stands behind that word: the name of a file whose content the block is. */
  file: string;
  code: string;
  /** Names that the comment `<!-- given: … -->` above the block imports from `given.ts`. */
  given: string | null;
  /** Reason of the comment `<!-- not run: … -->` above the block. */
  exempt: string | null;
  /** Exit code of the comment `<!-- exit: … -->` above the block. */
  exit: number;
}

type Comments = Pick<Block, "given" | "exempt" | "exit">;

export interface Page {
  path: string;
  text: string;
  blocks: Block[];
}

/** Every page that people read, in the order of their paths. */
export async function readPages(): Promise<Page[]> {
  const paths = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md"];
  for (const entry of await readdir(join(ROOT, "docs"), { recursive: true })) {
    if (entry.endsWith(".md")) paths.push(`docs/${entry}`);
  }
  for (const folder of ["packages", "examples"]) {
    for (const entry of await readdir(join(ROOT, folder), { withFileTypes: true }))
      if (entry.isDirectory()) paths.push(`${folder}/${entry.name}/README.md`);
  }
  return Promise.all(paths.sort().map(readPage));
}

/** @param path from the root of the repository */
export async function readPage(path: string): Promise<Page> {
  const text = await readFile(join(ROOT, path), "utf8");
  return { path, text, blocks: blocksOf(path, text) };
}

/** The heading of the second level above a block; empty without one. */
export function chapterOf(page: Page, { line }: Block): string {
  const above = proseOf(page).split("\n").slice(0, line);
  return above.findLast((text) => text.startsWith("## "))?.slice(3) ?? "";
}

/** The blocks of all pages in these languages. */
export function blocksIn(pages: readonly Page[], ...langs: string[]): Block[] {
  return pages.flatMap(({ blocks }) => blocks.filter(({ lang }) => langs.includes(lang)));
}

export const placeOf = ({ page, line }: Pick<Block, "page" | "line">): string => `${page}:${line}`;

function blocksOf(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence = "", lang = "", file = ""] =
      /^(\s*)(`{3,})(\w*) ?(.*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === "") continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end === -1) throw new Error(`${page}:${at + 1}: the block has no end`);
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({
      page,
      line: at + 1,
      lang,
      file,
      code: `${code.join("\n")}\n`,
      ...commentsAbove(lines, at),
    });
    at = end;
  }
  return blocks;
}

function commentsAbove(lines: readonly string[], fence: number): Comments {
  const comments: Comments = { given: null, exempt: null, exit: 0 };
  for (let at = fence - 1; ; at--) {
    const [, word, value = ""] = /^\s*<!-- (given|not run|exit):(.*)-->$/.exec(lines[at] ?? "") ?? [];
    if (word === undefined) return comments;
    if (word === "given") comments.given = value.trim();
    else if (word === "not run") comments.exempt = value.trim();
    else comments.exit = Number(value);
  }
}

/** The page without its blocks; line breaks stay, so lines keep their numbers. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^(\s*)(`{3,})[\s\S]*?^\s*\2$/gm, (block) => block.replaceAll(/[^\n]/g, ""));
}
