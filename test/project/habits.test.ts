import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import getReleasePlan from "@changesets/get-release-plan";
import { expect, test } from "vitest";
import { DEBIAN_PACKAGES } from "../../scripts/services.mjs";
import { readText, root } from "./copy.ts";

test("the development container installs the programs of the tests, on the oldest supported Node", async () => {
  const dockerfile = await readText(root, ".devcontainer/Dockerfile");
  const installed = /--no-install-recommends \\\n([\s\S]*?)\n {2}&&/.exec(dockerfile)?.[1] ?? "";
  expect(installed.split("\n").map((line) => line.replace("\\", "").trim())).toEqual(DEBIAN_PACKAGES);
  const { engines } = JSON.parse(await readText(root, "package.json"));
  expect(dockerfile).toContain(`FROM node:${engines.node.replace(">=", "")}-`);
});

test(".editorconfig agrees with Biome", async () => {
  const { formatter } = JSON.parse(await readText(root, ".biome.json"));
  const editor = await readText(root, ".editorconfig");
  const settings = Object.fromEntries(
    [...editor.matchAll(/^(\w+) = (.+)$/gm)].map(([, key, value]) => [key, value]),
  );
  // Biome's defaults where .biome.json has no value.
  expect(settings).toMatchObject({
    indent_style: formatter.indentStyle ?? "tab",
    indent_size: String(formatter.indentWidth ?? 2),
    end_of_line: formatter.lineEnding ?? "lf",
    max_line_length: String(formatter.lineWidth ?? 80),
  });
});

test("every change file names the packages that it changes", async () => {
  const files = (await readdir(`${root}/.changeset`)).filter((name) => /^(?!README).*\.md$/.test(name));
  const { changesets } = await getReleasePlan(root);
  expect(changesets.map(({ id }) => `${id}.md`).sort()).toEqual(files.sort());
  expect(changesets.filter(({ releases }) => releases.length === 0)).toEqual([]);
});

test("every page that shows npx outrigger has the line that installs it", async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard", "*.md"], {
    cwd: root,
  });
  const pages = stdout.split("\n").filter((path) => path !== "" && !path.startsWith(".changeset/"));
  const texts = await Promise.all(pages.map(async (path) => ({ path, text: await readText(root, path) })));
  const shown = texts.filter(({ text }) => /npx outrigger(?!-)\b/.test(text));
  expect(shown.length).toBeGreaterThan(5);
  const without = shown.filter(({ text }) => !/npm install (?:-D |--save-dev )?outrigger\b/.test(text));
  expect(without.map(({ path }) => path)).toEqual([]);
});

test("every nightly test file says in its first line why it is nightly", async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: root,
    maxBuffer: 2 ** 24,
  });
  const files = stdout.split("\n").filter((path) => path.endsWith(".nightly.test.ts"));
  const texts = await Promise.all(files.map((path) => readText(root, path).catch(() => "// Nightly: gone")));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((_, index) => !texts[index]?.startsWith("// Nightly: "))).toEqual([]);
});
