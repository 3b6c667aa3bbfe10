// Finds the odd words of the style guide in CONTRIBUTING.md in sources, tests, pages and documents. Exits with 1 if it finds one.
// `node scripts/check-words.mjs [path ...]` checks only those files or folders.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Each word with its replacement. A line that quotes a word on purpose ends in a comment with `words: ok`. */
const WORDS = [
  [/\bwhoever\b/i, "name the subject: the client, the process, the caller"],
  [/\bnobody\b/i, "no client, no process, no caller; or a passive without an agent"],
  [/\bsomebody\b/i, "a client, a person, another process"],
  [/\b(?:is|are|was|were|be|been|being) told\b/i, "receives, is notified, is reported"],
  [/\bhears? of\b/i, "is notified of, sees"],
  [/\bwhat is none\b/i, "a value that is not …"],
  [/\bso long\b/i, "while, as long as, up to that long"],
  [/\blook(?:s|ed|ing)? after\b/i, "manages, maintains, renews"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix, repair"],
];
/** Words of page texts and of the OpenAPI document. They are searched outside comments. */
const TEXT_WORDS = [
  [/\b(?:every|any)body\b/i, "everyone, anyone"],
  [/(?:["`>]|[.:;] )what (?:is|was|has|takes|never|cannot)\b/i, "name the subject: the file, the request"],
  [/(?:["`>]|[.:;] )who(?: asks|\b would)\b/i, "name the subject: the client, the reader"],
  [/\baddress(?:es)? (?:of|to|by|for) (?:the |an |this )?(?:image|file|picture|page|format)\b/i, "link, URL"],
];
const TEXTS = [
  /^packages\/web\/(?:src|browser)\//,
  /^packages\/core\/src\/(?:openapi|images\/http\/description|lookup\/http\/description)\//,
];
const COMMENT = /^\s*(?:\/?\*|\/\/)/;
const READ = /\.(?:ts|mjs|js|cjs|md|html|css|json|yml|lua)$/;
/** The list itself, the page that shows it, and files copied from elsewhere. */
const LEFT_OUT = [/^scripts\/check-words\.mjs$/, /(?:^|\/)fixtures\//, /(?:^|\/)package(?:-lock)?\.json$/];

const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...process.argv.slice(2)], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const files = tracked
  .split("\n")
  .filter((file) => READ.test(file) && !LEFT_OUT.some((pattern) => pattern.test(file)));
let found = 0;
for (const file of files) {
  const isText = TEXTS.some((pattern) => pattern.test(file)) && !file.endsWith(".test.ts");
  for (const [index, line] of linesOf(file).entries()) {
    if (line.includes("words: ok")) continue;
    const words = isText && !COMMENT.test(line) ? [...WORDS, ...TEXT_WORDS] : WORDS;
    for (const [word, instead] of words) {
      const hit = word.exec(line)?.[0];
      if (hit === undefined) continue;
      found += 1;
      console.log(`${file}:${index + 1}: "${hit}": ${instead}`);
    }
  }
}
if (found > 0) {
  console.log(`${found} odd words: see CONTRIBUTING.md`);
  process.exitCode = 1;
}

function linesOf(file) {
  try {
    return readFileSync(root + file, "utf8").split("\n");
  } catch (error) {
    // Removed, but still in the index.
    if (error.code === "ENOENT") return [];
    throw error;
  }
}
