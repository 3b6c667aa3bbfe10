import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRenderer, type RendererOptions } from "@outrigger/imaging";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const dist = join(dirname(fileURLToPath(import.meta.resolve("@outrigger/imaging"))));
let directory: string;
let copies = 0;
beforeAll(async () => {
  // Beside the package's own files, so that the copies find the same libraries.
  directory = await mkdtemp(join(dist, "..", "build-test-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function buildOfCopy(change?: (root: string) => Promise<void>): Promise<string> {
  const root = join(directory, String(copies++));
  await cp(dist, root, { recursive: true });
  await change?.(root);
  // In a process of its own: a module is loaded once.
  const script = 'const { createRenderer } = await import("./index.js"); console.log(createRenderer().build)';
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: root });
  return stdout.trim();
}

test("the same code in another folder has the same build", async () => {
  const renderer = createRenderer();
  expect(await buildOfCopy()).toBe(renderer.build);
  await renderer.close();
});

test.each([
  ["a changed file", (root: string) => writeFile(join(root, "renderer.js"), "\n", { flag: "a" })],
  [
    "a changed file in a folder",
    (root: string) => writeFile(join(root, "worker/psd/tiff.js"), "\n", { flag: "a" }),
  ],
  ["another file", (root: string) => writeFile(join(root, "extra.js"), "")],
])("%s changes the build", async (_, change) => {
  expect(await buildOfCopy(change)).not.toBe(await buildOfCopy());
});

test("only options that shape renditions change the build", async () => {
  const buildWith = async (options: RendererOptions) => {
    const renderer = createRenderer(options);
    await renderer.close();
    return renderer.build;
  };
  const build = await buildWith({});
  expect(build).toMatch(/^[a-z0-9.]{1,24}$/);
  expect(await buildWith({ maxOutputPixels: 5000 })).not.toBe(build);
  expect(await buildWith({ sandbox: "off", maxTasksPerWorker: 1 })).toBe(build);
  expect(await buildWith({ workers: 1, timeoutMs: 500, maxPixels: 9 })).toBe(build);
});
