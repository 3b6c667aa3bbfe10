import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Folders and files of core/src, the lowest floor first. A file belongs to the longest prefix that fits. */
const CORE_FLOORS: readonly (readonly string[])[] = [
  [
    "amounts.ts",
    "errors.ts",
    "nearest-name.ts",
    "option-values.ts",
    "option-rules.ts",
    "check-options.ts",
    "schema/",
    "async/",
  ],
  ["contracts/", "contract-rules.ts"],
  ["http/"],
  ["stores/"],
  ["observe/", "openapi/"],
  ["images/record/"],
  ["images/store/"],
  ["images/owners/", "images/renditions/", "images/events/", "images/reports/"],
  ["images/authorize.ts", "images/sendfile.ts", "images/images-options.ts", "images/image-settings.ts"],
  ["images/processing/", "images/life/", "images/uploads/"],
  ["images/storage/"],
  ["images/library/"],
  ["images/http/"],
  ["images/", "lookup/"],
  ["lookup/http/"],
  ["lookup/lookup.ts"],
];
const MAX_FILES = 25;
const MAX_TEST_LINES = 300;

const root = fileURLToPath(new URL("../packages/", import.meta.url));
const packages = readdirSync(root).filter((name) => existsSync(join(root, name, "src")));

describe.each(packages)("the sources of %s", (name) => {
  const source = join(root, name, "src");
  const files = sourcesBelow(source);
  const imports = new Map(files.map((file) => [file, importsOf(source, file)]));

  it("source files have no circular imports, types included", () => {
    expect(circlesOf(imports)).toEqual([]);
  });

  it(`folders have at most ${MAX_FILES} files`, () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });
});

it("the sources of core import nothing of a higher floor", () => {
  const source = join(root, "core", "src");
  const arrows = sourcesBelow(source).flatMap((file) =>
    importsOf(source, file)
      .filter((target) => isService(file) && isService(target) && floorOf(target) > floorOf(file))
      .map((target) => `${file} -> ${target}`),
  );
  expect(arrows).toEqual([]);
});

it("the images and the lookup of core import nothing of each other", () => {
  const source = join(root, "core", "src");
  const wingOf = (file: string) => /^(images|lookup)\//.exec(file)?.[1];
  const arrows = sourcesBelow(source).flatMap((file) =>
    importsOf(source, file)
      .filter((target) => wingOf(file) && wingOf(target) && wingOf(target) !== wingOf(file))
      .map((target) => `${file} -> ${target}`),
  );
  expect(arrows).toEqual([]);
});

it("the renderer's host and its worker process import nothing of each other but shared/", () => {
  const source = join(root, "imaging", "src");
  const roomOf = (file: string) => /^(shared|worker)\//.exec(file)?.[1] ?? "host";
  const arrows = sourcesBelow(source).flatMap((file) =>
    importsOf(source, file)
      .filter((target) => roomOf(target) !== "shared" && roomOf(target) !== roomOf(file))
      .map((target) => `${file} -> ${target}`),
  );
  expect(arrows).toEqual([]);
});

it("docs/architecture.md names packages, files and functions that exist", () => {
  const page = readFileSync(join(root, "..", "docs", "architecture.md"), "utf8");
  const steps = [...page.matchAll(/`(\w+)\/([\w/-]+\.ts):(\w+)`/g)];
  expect(steps.length).toBeGreaterThan(50);
  const missing = steps.flatMap(([step, name = "", path = "", member = ""]) => {
    const file = join(root, name, "src", path);
    const isThere = existsSync(file) && new RegExp(`\\b${member}\\b`).test(readFileSync(file, "utf8"));
    return isThere ? [] : [step];
  });
  expect(missing).toEqual([]);
  expect(packages.filter((name) => !page.includes(`[${name}](../packages/${name})`))).toEqual([]);
});

describe("test files", () => {
  const project = join(root, "..");
  const tests = ["packages", "test"].flatMap((folder) => testsBelow(join(project, folder)));
  const textOf = (file: string) => readFileSync(join(project, file), "utf8");

  it(`have at most ${MAX_TEST_LINES} lines`, () => {
    expect(tests.length).toBeGreaterThan(300);
    expect(tests.filter((file) => textOf(file).trimEnd().split("\n").length > MAX_TEST_LINES)).toEqual([]);
  });

  it("neither skip a test nor run one test only", () => {
    const modifier = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|only|todo)\b|\bx(?:it|test|describe)\(/;
    expect(tests.filter((file) => modifier.test(textOf(file)))).toEqual([]);
  });

  function testsBelow(directory: string): string[] {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory())
        return /^(?:node_modules|dist|fixtures)$/.test(entry.name) ? [] : testsBelow(path);
      return /\.test\.ts$/.test(entry.name) ? [relative(project, path)] : [];
    });
  }
});

/** Entries may import everything. */
function isService(file: string): boolean {
  return file.includes("/") || floorOf(file) !== -1;
}

function floorOf(file: string): number {
  const fits = CORE_FLOORS.flatMap((prefixes, floor) =>
    prefixes.filter((prefix) => file.startsWith(prefix)).map((prefix) => ({ floor, length: prefix.length })),
  );
  return fits.sort((a, b) => b.length - a.length)[0]?.floor ?? -1;
}

/** Paths relative to `directory`, tests left out. */
function sourcesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.\w+$/.test(entry.name))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

function importsOf(source: string, file: string): string[] {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(
    /^(?:import|export)\b[^;"]*?(?:\bfrom\s+)?"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm,
  );
  return [...found].map(([, fixed, lazy]) => posix.join(posix.dirname(file), fixed ?? lazy ?? ""));
}

/** One circle for each group of files that import each other (Tarjan), as a sorted list of its files. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    low.set(file, own);
    path.push(file);
    for (const target of imports.get(file) ?? []) {
      const reached = index.has(target)
        ? path.includes(target)
          ? (index.get(target) ?? own)
          : own
        : visit(target);
      low.set(file, Math.min(low.get(file) ?? own, reached));
    }
    const lowest = low.get(file) ?? own;
    if (lowest === own) {
      const group = path.splice(path.indexOf(file));
      if (group.length > 1 || imports.get(file)?.includes(file)) circles.push(group.sort());
    }
    return lowest;
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return circles;
}
