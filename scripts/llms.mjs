// Writes docs/llms.txt: every page by its title and first sentence, for language models (https://llmstxt.org).
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILE = "docs/llms.txt";

/** The text of docs/llms.txt as the pages are now. */
export function llmsText() {
  const docs = pagesIn("docs");
  const [first, others] = ["docs/mounting.md", docs];
  const sections = [
    ["Guides and reference", [first, ...others.filter((page) => page !== first)]],
    ["Packages", readmesIn("packages")],
    ["Examples", readmesIn("examples")],
    ["Optional", ["bench/README.md", "CONTRIBUTING.md", "SECURITY.md"]],
  ];
  const lists = sections.map(([name, pages]) => `## ${name}\n\n${pages.map(entry).join("\n")}\n`);
  const { title } = read("README.md");
  const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [
    `# ${title}\n`,
    `> ${description}\n`,
    `The whole in one page: [README](../README.md).\n`,
    ...lists,
  ].join("\n");
}

function entry(page) {
  const { title, sentence } = read(page);
  return `- [${title}](${posix.relative("docs", page)})${sentence === "" ? "" : `: ${sentence}`}`;
}

function pagesIn(folder) {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => `${folder}/${name}`);
}

function readmesIn(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter((each) =>
    each.isDirectory(),
  );
  return entries.map(({ name }) => `${folder}/${name}/README.md`).sort();
}

/** The title of a page, and the first sentence of its first paragraph. Links are replaced by their words. */
function read(page) {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^\s*(`{3,})[\s\S]*?^\s*\1$/gm, "");
  const [, title] = /^# (.*)$/m.exec(text) ?? [];
  const paragraph = text.split(/\n{2,}/).find((part) => /^[\p{L}`*"[]/u.test(part.trim()));
  if (title === undefined) throw new Error(`${page} has no title`);
  if (paragraph === undefined) return { title, sentence: "" };
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .replace(/^\*\*\w+\.?\*\*:? ?/, "");
  const [sentence = ""] = /^.*?(?<!e\.g)[.:](?= |$)(?! [a-z])/.exec(plain) ?? [plain];
  return { title, sentence: sentence.trim().replace(/:$/, ".") };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, FILE), llmsText());
