import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readText, root } from "./copy.ts";

/** Words that the style guide in CONTRIBUTING.md replaces. A line that quotes one ends in a comment with `words: ok`. */
const WORDS =
  /\b(?:whoever|nobody|somebody|(?:is|are|was|were|be|been|being) told|hears? of|what is none|so long|look(?:s|ed|ing)? after|mend(?:s|ed|ing)?)\b/i; // words: ok
/** Those of page texts and of the OpenAPI document, outside comments. */
const TEXT_WORDS =
  /\b(?:every|any)body\b|(?:["`>]|[.:;] )(?:what (?:is|was|has|takes|never|cannot)\b|who(?: asks|\b would)\b)|\baddress(?:es)? (?:of|to|by|for) (?:the |an |this )?(?:image|file|picture|page|format)\b/i;
const TEXTS =
  /^packages\/(?:web\/(?:src|browser)|core\/src\/(?:openapi|images\/http\/description|lookup\/http\/description))\/(?!.*\.test\.ts$)/;
const COMMENT = /^\s*(?:\/?\*|\/\/)/;
const READ = /\.(?:ts|mjs|js|cjs|md|html|css|json|yml|lua)$/;
const LEFT_OUT = /(?:^|\/)(?:fixtures\/|package(?:-lock)?\.json$)/;

test("no line has a word that the style guide replaces", async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: root,
    maxBuffer: 2 ** 24,
  });
  const files = stdout.split("\n").filter((file) => READ.test(file) && !LEFT_OUT.test(file));
  expect(files.length).toBeGreaterThan(1000);
  const found: string[] = [];
  for (const file of files) {
    // A deleted file may still be in the index.
    const text = await readText(root, file).catch(() => "");
    for (const [index, line] of text.split("\n").entries()) {
      const isText = TEXTS.test(file) && !COMMENT.test(line);
      const hit = WORDS.exec(line) ?? (isText ? TEXT_WORDS.exec(line) : null);
      if (hit !== null && !line.includes("words: ok")) found.push(`${file}:${index + 1}: ${hit[0]}`);
    }
  }
  expect(found).toEqual([]);
});
