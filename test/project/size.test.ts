import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readText, root } from "./copy.ts";

/** How far a number of size.json may lie above what is counted, as a share. */
const SLACK = 0.01;

const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  maxBuffer: 2 ** 24,
});
const files = [...new Set(stdout.split("\n"))].filter((file) => file !== "");
const limits: Record<string, number> = JSON.parse(await readText(root, "test/project/size.json"));

/** TypeScript of the packages, without tests, declarations and the published suites. */
const isSource = (file: string) =>
  /^packages\/(?!testing\/)[^/]+\/(?:src|browser)\/.*(?<!\.d)\.tsx?$/.test(file) && !file.includes(".test.");
const isPage = (file: string) =>
  /^(?:docs\/.*|packages\/[^/]+\/README|README|CONTRIBUTING|SECURITY)\.md$/.test(file);

/** The text of each file that the working tree has. */
async function textsOf(isCounted: (file: string) => boolean): Promise<string[]> {
  const texts = files.filter(isCounted).map((file) => readText(root, file).catch(() => ""));
  return Promise.all(texts);
}

const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

test.each([
  ["sourceLines", async () => total((await textsOf(isSource)).map((text) => text.split("\n").length - 1))],
  ["options", async () => (await readText(root, "docs/options.md")).match(/^- \*\*`/gm)?.length ?? 0],
  ["docWords", async () => total((await textsOf(isPage)).map((text) => text.match(/\S+/g)?.length ?? 0))],
] as const)(
  "the project has at most the %s of size.json, which a change may raise with a reason",
  async (name, count) => {
    const limit = limits[name] ?? 0;
    const counted = await count();
    expect(
      counted,
      "raise the number in test/project/size.json, and give the reason there",
    ).toBeLessThanOrEqual(limit);
    expect(counted, "lower the number in test/project/size.json").toBeGreaterThan(limit * (1 - SLACK));
  },
);
