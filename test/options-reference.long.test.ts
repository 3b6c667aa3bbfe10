import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const SCRIPT = join(root, "scripts", "options-reference.mjs");
const PAGE = join(root, "docs", "options.md");

let page: string;
let directory: string;
beforeAll(async () => {
  page = await readFile(PAGE, "utf8");
  directory = await mkdtemp(join(tmpdir(), "outrigger-options-"));
});
afterAll(() => rm(directory, { recursive: true }));

function check(...args: string[]): Promise<{ code: unknown; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, "--check", ...args], { cwd: root }, (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stderr });
    });
  });
}

describe("the reference of options", () => {
  test("is what the types say, and another page is found to be stale", async () => {
    const stale = join(directory, "stale.md");
    await writeFile(stale, page.replace("`26214400` (25 MiB)", "`26214401` (25 MiB)"));
    expect(await check(PAGE, stale)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^\S*stale\.md is not what the types say: [^\n]*\n$/),
    });
  });

  test("has the options of every function that makes or opens something", async () => {
    const taken = await takenOptions();
    expect(taken.length).toBeGreaterThan(20);
    expect(taken).toContainEqual(["createImages", "ImagesOptions"]);
    expect(taken).toContainEqual(["createServer", "ServerConfig"]);
    expect(taken.filter(([name]) => !page.includes(`\n### ${name}\n`))).toEqual([]);
    expect(taken.filter(([, options]) => !page.includes(`\n#### ${options}\n`))).toEqual([]);
  });

  test("has links that lead somewhere, and no path of a machine", async () => {
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
    expect(new Set(headings).size).toBe(headings.length);
    const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    const inside = links.filter((target) => target.startsWith("#")).map((target) => target.slice(1));
    expect(inside.filter((target) => !headings.includes(target))).toEqual([]);
    const pages = links.filter((target) => !target.startsWith("#"));
    expect(pages.filter((target) => !existsSync(join(root, "docs", target)))).toEqual([]);
    expect(page).not.toContain(root);
    expect(page).not.toMatch(/import\(|node_modules/);
  });
});

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  const kept = heading.toLowerCase().replace(/[^\w\- ]/g, "");
  return kept.replaceAll(" ", "-");
}

/** Exported functions with the name of the options that they take, found in the sources by their spelling alone. */
async function takenOptions(): Promise<[name: string, options: string][]> {
  const found: [string, string][] = [];
  for (const entry of await entries()) {
    const text = await readFile(entry, "utf8");
    const functions = [...text.matchAll(/export \{([^}]*)\} from "(\.[^"]+)"/g)].flatMap(
      ([, names = "", file = ""]) => names.split(",").map((name) => ({ name: name.trim(), file })),
    );
    for (const { name, file } of [...functions, ...ownFunctions(text, entry)]) {
      if (!/^(?:create|open)[A-Z]/.test(name)) continue;
      const source = file === "" ? text : await readFile(join(dirname(entry), file), "utf8");
      const [, parameters = ""] = new RegExp(`function ${name}(?:<[^(]*>)?\\(([^)]*)\\)`).exec(source) ?? [];
      for (const [, options = ""] of parameters.matchAll(/: (\w+(?:Options|Config))\b/g))
        found.push([name, options]);
    }
  }
  return found;
}

function ownFunctions(text: string, entry: string) {
  if (entry.endsWith("index.ts")) return [];
  return [...text.matchAll(/^export function (\w+)/gm)].map(([, name = ""]) => ({ name, file: "" }));
}

/** The modules that packages export, but for what tests are made of. */
async function entries(): Promise<string[]> {
  const packages = await readdir(join(root, "packages"), { withFileTypes: true });
  const all = packages
    .filter((each) => each.isDirectory() && each.name !== "testing")
    .map(async ({ name }) => {
      const own = JSON.parse(await readFile(join(root, "packages", name, "package.json"), "utf8")) as {
        exports: Record<string, { default?: string } | string>; // As all of ours have it.
      };
      return Object.entries(own.exports).flatMap(([, target]) => {
        if (typeof target === "string" || target.default === undefined) return [];
        const source = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
        return [join(root, "packages", name, source)];
      });
    });
  return (await Promise.all(all)).flat();
}
