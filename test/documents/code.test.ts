import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/programs.ts";
import { type Block, blocksIn, ROOT, readPages } from "./pages.ts";

const blocks = blocksIn(await readPages(), "js", "ts").filter(({ exempt }) => exempt === null);
let directory: string;
/** What the compiler says. */
let faults: string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-documents-"));
  await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
  for (const path of ["documents/given.ts", "support/frameworks.d.ts"])
    await copyFile(join(ROOT, "test", path), join(directory, basename(path)));
  await writeFile(join(directory, "environment.d.ts"), ENVIRONMENT);
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(PROJECT));
  const files = new Map(blocks.map((block) => [fileOf(block), block]));
  for (const [file, block] of files) await writeFile(join(directory, file), sourceOf(block));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", directory, "--pretty", "false"]);
  faults = faultsIn(stdout.toString(), files);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

// Readers of JavaScript annotate nothing, so parameters without types are no fault.
const PROJECT = {
  extends: join(ROOT, "packages/tsconfig.base.json"),
  compilerOptions: {
    ...{ composite: false, declaration: false, declarationMap: false, sourceMap: false, noEmit: true },
    ...{
      allowJs: true,
      checkJs: true,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
    },
    ...{ noImplicitAny: false, noUnusedLocals: false, noUnusedParameters: false, isolatedModules: false },
    lib: ["es2023", "dom"],
  },
  include: ["*.ts", "*.js", "*.cjs"],
};

/** The variables that the guides have a reader set. */
const ENVIRONMENT =
  "declare namespace NodeJS { interface ProcessEnv { LOOKUP_SECRET: string; IMAGES_SECRET: string; OUTRIGGER_LOOKUP_DATABASE: string; OUTRIGGER_SECRET: string } }";

function fileOf({ page, line, lang, code }: Block): string {
  const suffix = lang === "ts" ? "ts" : /\brequire\(/.test(code) ? "cjs" : "js";
  return `${page.replaceAll("/", "__")}.${line}.${suffix}`;
}

/** The block with its given names in the line of its fence, so that lines are those of the page. */
function sourceOf({ line, code, given }: Block): string {
  const names = given === null ? "" : `import { ${given} } from "./given.ts";`;
  return `${"\n".repeat(line - 1)}${names}\n${code}`;
}

function faultsIn(output: string, files: ReadonlyMap<string, Block>): string[] {
  return output.split("\n").flatMap((text) => {
    const [, path = "", line, what] = /^(\S+)\((\d+),\d+\): (.*)$/.exec(text) ?? [];
    const block = files.get(path.split("/").at(-1) ?? "");
    if (text === "") return [];
    return [block === undefined ? text : `${block.page}:${line}: ${what}`];
  });
}

test("the code of every block compiles", () => {
  expect(faults).toEqual([]);
});
