import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPage } from "../documents/pages.ts";
import { blankProject } from "./project.ts";
import { startRegistry } from "./registry.ts";

test("the packages that README.md installs are as many and as large as it says, at most 65 MB", async () => {
  const { text } = await readPage("README.md");
  const [, names = "", packages, megabytes] =
    /^npm install (@outrigger.*)\n```\n\nIt installs (\d+) packages, (\d+) MB\./m.exec(text) ?? [];
  const registry = await startRegistry();
  const project = await blankProject(registry, { dependencies: names.split(" ") });
  try {
    const modules = join(project.directory, "node_modules");
    const lock = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8"));
    const entries = await readdir(modules, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    const measured = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
    expect(Object.keys(lock.packages)).toHaveLength(Number(packages));
    // What npm fetches weighs a little more or less on each platform.
    expect(measured).toBeGreaterThan(Number(megabytes) - 3);
    expect(measured).toBeLessThanOrEqual(Math.min(65, Number(megabytes)));
  } finally {
    await project.close();
    await registry.close();
  }
});
