import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = await readFile(new URL("../docs/recipes.md", import.meta.url), "utf8");

/** Runs the recipe's code with these variables, then stores a text. @returns What the app prints. */
async function run(variables: Record<string, string>): Promise<string> {
  const [, section = ""] = guide.split("## Configure an app from the environment\n");
  const [, code = ""] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];
  const directory = await mkdtemp(join(tmpdir(), "outrigger-environment-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const app = `${code}
    const svg = (fill) => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--' + fill + '--></svg>');
    const { expiresAt, createdAt } = await images.add(svg(""));
    console.log((Date.parse(expiresAt) - Date.parse(createdAt)) / 86400000 + " days");
    await images.add(svg("x".repeat(2000))).catch((error) => console.log(error.code));
    await images.close();`;
  const IMAGES_STORAGE = `file:${join(directory, "data")}`;
  const env = { ...process.env, IMAGES_STORAGE, ...variables };
  const ended = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", app], {
    cwd: root,
    env,
  });
  const { stdout } = await ended.catch((error: { stderr: string }) => ({ stdout: error.stderr }));
  return stdout;
}

test("the recipe takes the storage, the largest upload and the lifetime from the environment", async () => {
  expect(await run({ IMAGES_MAX_UPLOAD: "1.5kB", IMAGES_LIFETIME: "30d" })).toBe("30 days\ntoo_large\n");
});

test("the recipe starts with the defaults where a variable is absent", async () => {
  expect(await run({})).toBe("1 days\n");
});

test("a wrong variable stops the recipe's app with the option and the accepted forms", async () => {
  expect(await run({ IMAGES_MAX_UPLOAD: "25 megs" })).toContain(
    'createImages: maxUploadBytes must be a whole number from 1 to 2147483648, or a size such as "25MB", not "25 megs"',
  );
});
