import { expect, test } from "vitest";
import { publicPackages } from "../../scripts/release/packages.mjs";
import { readText, root } from "./copy.ts";

const packages = publicPackages(root);

test("all packages are public and have one version", () => {
  expect(packages.length).toBeGreaterThan(10);
  expect(new Set(packages.map(({ manifest }) => manifest.version)).size).toBe(1);
});

test.each(packages)("$directory describes itself for the registry", async ({ directory, manifest }) => {
  expect(manifest).toMatchObject({
    description: expect.stringMatching(/^[A-Z].{20,}\.$/),
    license: "MIT",
    publishConfig: { access: "public", provenance: true },
  });
  expect(manifest.keywords).toContain("outrigger");
  expect((manifest.keywords as string[]).length).toBeGreaterThan(3);
  expect(manifest.files).toEqual(expect.arrayContaining(["dist", "src", "CHANGELOG.md", "!**/*.test.*"]));
  expect(manifest).toHaveProperty("sideEffects");
  expect(await readText(root, `${directory}/LICENSE`)).toBe(await readText(root, "LICENSE"));
});

test.each(packages)("$directory has a changelog with a section for its version", async (entry) => {
  const lines = (await readText(root, `${entry.directory}/CHANGELOG.md`)).split("\n");
  expect(lines[0]).toBe(`# ${entry.manifest.name}`);
  expect(lines).toContain(`## ${entry.manifest.version}`);
});
