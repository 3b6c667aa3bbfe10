import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
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

/** Paths and texts of the test files of the repository. */
async function testFiles(): Promise<{ path: string; text: string }[]> {
  const { stdout } = await promisify(execFile)(
    "git",
    ["ls-files", "-co", "--exclude-standard", "*.test.ts"],
    {
      cwd: root,
      maxBuffer: 2 ** 24,
    },
  );
  const paths = stdout.split("\n").filter((path) => existsSync(`${root}/${path}`) && path !== "");
  return Promise.all(paths.map(async (path) => ({ path, text: await readText(root, path) })));
}

test("every nightly test file says in its first line why it is nightly", async () => {
  const files = (await testFiles()).filter(({ path }) => path.endsWith(".nightly.test.ts"));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter(({ text }) => !text.startsWith("// Nightly: ")).map(({ path }) => path)).toEqual([]);
});

test("no quick test file starts a browser, a database or, outside of packages/imaging, a render process", async () => {
  const files = (await testFiles()).filter(
    ({ path }) => !/\.(?:long|nightly)\.test\.ts$|^packages\/imaging\//.test(path),
  );
  const starts =
    /\bcreateRenderer\(\)[;,]|\b(?:start|with)Site\b[^;]* from "[./]*support\/service\.ts"|support\/(?:chromium|postgres-server|s3-server)\.ts"/;
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter(({ text }) => starts.test(text)).map(({ path }) => path)).toEqual([]);
});
