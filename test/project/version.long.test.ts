import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { publicPackages } from "../../scripts/release/packages.mjs";
import { copyProject, readText, runScript } from "./copy.ts";

let copy: string;

beforeEach(async () => {
  copy = await copyProject();
  await setVersions("0.1.0");
});

afterEach(async () => {
  await rm(copy, { recursive: true });
});

async function change(kind: "patch" | "minor", text: string): Promise<void> {
  await writeFile(join(copy, `.changeset/${kind}.md`), `---\n"@outrigger/core": ${kind}\n---\n\n${text}\n`);
}

/** Versions of the packages that are published. */
function versions(): string[] {
  return [...new Set(publicPackages(copy).map(({ manifest }) => manifest.version))];
}

/** Gives all packages this version, and asks for it where they ask for each other. */
async function setVersions(version: string): Promise<void> {
  const [current = ""] = versions();
  const examples = await readdir(join(copy, "examples"));
  const directories = publicPackages(copy).map(({ directory }) => directory);
  for (const directory of [...directories, ...examples.map((name) => `examples/${name}`)]) {
    const text = await readText(copy, `${directory}/package.json`);
    const changed = text
      .replaceAll(`"^${current}"`, `"^${version}"`)
      .replaceAll(`"${current}"`, `"${version}"`);
    await writeFile(join(copy, directory, "package.json"), changed);
  }
}

async function readManifest(directory: string): Promise<Record<string, Record<string, string>>> {
  return JSON.parse(await readText(copy, `${directory}/package.json`));
}

test("a minor change of core raises all packages to 0.2.0: manifests, ranges, changelogs, constants, lock file", async () => {
  await change("patch", "A repair.");
  await change("minor", "A sample.");
  const outcome = await runScript(copy, "scripts/release/version.mjs");
  expect(outcome).toMatchObject({ status: 0 });
  expect(versions()).toEqual(["0.2.0"]);
  const imaging = await readManifest("packages/imaging");
  expect(imaging.peerDependencies).toMatchObject({ "@outrigger/core": "^0.2.0" });
  expect(imaging.devDependencies).toMatchObject({ "@outrigger/core": "0.2.0" });
  expect((await readManifest("examples/koa-app")).dependencies).toMatchObject({ "@outrigger/core": "0.2.0" });
  const changelog = await readText(copy, "packages/core/CHANGELOG.md");
  expect(changelog).toMatch(
    /^# @outrigger\/core\n\n## 0\.2\.0\n\n### Minor Changes\n\n- .*A sample\.\n\n### Patch Changes\n\n- .*A repair\.\n\n## /,
  );
  expect(await readText(copy, "packages/client/CHANGELOG.md")).toContain("## 0.2.0\n");
  expect(await readText(copy, "packages/client/src/version.ts")).toContain('VERSION = "0.2.0"');
  expect(await readText(copy, "packages/core/src/openapi/version.ts")).toContain('VERSION = "0.2.0"');
  const lock = JSON.parse(await readText(copy, "package-lock.json")).packages;
  expect(lock[""].version).toBe("0.2.0");
  expect(lock["packages/imaging"]).toMatchObject({
    version: "0.2.0",
    devDependencies: { "@outrigger/core": "0.2.0" },
    peerDependencies: { "@outrigger/core": "^0.2.0" },
  });
});

test("a patch raises the last number, and a minor change after 1.0 stays below 2.0.0", async () => {
  await change("patch", "A repair.");
  await runScript(copy, "scripts/release/version.mjs");
  expect(versions()).toEqual(["0.1.1"]);
  await setVersions("1.4.0");
  await change("minor", "A sample.");
  await runScript(copy, "scripts/release/version.mjs");
  expect(versions()).toEqual(["1.5.0"]);
});
