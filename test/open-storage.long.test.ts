import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Opens the storage of its argument, and prints the names of the stores' methods or the error. */
const APP = `
import { openStorage } from "@outrigger/core/stores";

async function main() {
  try {
    const { records } = await openStorage(process.argv[2]);
    console.log(typeof records.put);
    await records.close();
  } catch (error) {
    console.log(error.code + ": " + error.message);
  }
}
main();
`;

const REDIS = "redis://ann:hush@127.0.0.1:1";
const CASES = [
  [REDIS, ["redis"], "npm install @outrigger/redis"],
  ["postgres://ann:hush@127.0.0.1:1/images", ["sql"], "npm install @outrigger/sql"],
  ["s3://bucket/app", ["s3"], "npm install @outrigger/s3 @aws-sdk/client-s3"],
] as const;
/** PostgreSQL stores records only. */
const inRole = (url: string) =>
  url.startsWith("postgres:")
    ? JSON.stringify({ records: url, originals: "file:./data", renditions: "file:./data" })
    : url;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-app-"));
  await writeFile(join(directory, "app.mjs"), APP);
});
afterEach(() => rm(directory, { recursive: true }));

/** Copies a package into a directory of its own with its dependencies, as pnpm does, and links it where the app looks. */
async function installAlone(name: string, peers: readonly string[] = []): Promise<void> {
  const from = join(ROOT, "packages", name);
  const modules = join(directory, "node_modules/.pnpm", name, "node_modules");
  const own = join(modules, "@outrigger", name);
  await cp(join(from, "dist"), join(own, "dist"), { recursive: true });
  await cp(join(from, "package.json"), join(own, "package.json"));
  const { dependencies = {} } = JSON.parse(await readFile(join(from, "package.json"), "utf8"));
  for (const library of [...Object.keys(dependencies), ...peers]) {
    const target = library === "@outrigger/core" ? coreIn(directory) : join(ROOT, "node_modules", library);
    await mkdir(dirname(join(modules, library)), { recursive: true });
    await symlink(target, join(modules, library));
  }
  await mkdir(join(directory, "node_modules/@outrigger"), { recursive: true });
  await symlink(own, join(directory, "node_modules/@outrigger", name));
}

function coreIn(place: string): string {
  return join(place, "node_modules/.pnpm/core/node_modules/@outrigger/core");
}

async function start(file: string, storage: string, cwd = directory): Promise<string> {
  const { stdout } = await execute(process.execPath, [join(directory, file), storage], { cwd });
  return stdout.trim();
}

test.each(CASES)(
  "openStorage of %s without the package answers with the line that installs it",
  async (url, _names, line) => {
    await installAlone("core");
    const said = await start("app.mjs", inRole(url));
    expect(said).toMatch(
      /^host_misuse: Storage in \S+ needs packages that are not installed\. Install them: /,
    );
    expect(said.endsWith(line)).toBe(true);
    expect(said).not.toContain("hush");
  },
);

test("openStorage of s3: with the package but without the AWS SDK answers with the line that installs both", async () => {
  await installAlone("core");
  await installAlone("s3", ["@outrigger/core"]);
  expect(await start("app.mjs", "s3://bucket/app")).toContain("npm install @outrigger/s3 @aws-sdk/client-s3");
});

test.each(CASES)(
  "openStorage of %s finds the package where only the app has it, whatever the working directory",
  async (url, names) => {
    await installAlone("core");
    for (const name of names) {
      await installAlone(name, ["@outrigger/core", ...(name === "s3" ? ["@aws-sdk/client-s3"] : [])]);
    }
    for (const cwd of [directory, tmpdir()])
      expect(await start("app.mjs", inRole(url), cwd)).toBe("function");
  },
);

test.each(["esm", "cjs"] as const)(
  "an app in one file (%s) contains no driver that openStorage could load, and loads the named one when it runs",
  async (format) => {
    await installAlone("core");
    await installAlone("redis", ["@outrigger/core"]);
    const { metafile, warnings } = await build({
      entryPoints: [join(directory, "app.mjs")],
      outfile: join(directory, format === "cjs" ? "app.cjs" : "one.mjs"),
      ...{ bundle: true, platform: "node", metafile: true, logLevel: "silent", format },
      ...(format === "cjs"
        ? {}
        : {
            banner: {
              js: 'import { createRequire } from "module"; const require = createRequire(import.meta.url);',
            },
          }),
    });
    expect(warnings).toEqual([]);
    expect(Object.keys(metafile.inputs).join()).not.toMatch(/redis|sql|s3|pg|libsql|aws/);
    const file = format === "cjs" ? "app.cjs" : "one.mjs";
    expect(await start(file, "file:./data")).toBe("function");
    expect(await start(file, REDIS)).toBe("function");
    expect(await start(file, "s3://bucket/app")).toContain("npm install @outrigger/s3 @aws-sdk/client-s3");
  },
);
