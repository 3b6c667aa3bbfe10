import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const LEFT_OUT = new Set(["node_modules", "dist", "test", ".turbo"]);

/** Change files of the next release would change the outcome. */
const CHANGE_FILE = /\.changeset\/(?!README)[^/]*\.md$/;
/** Of the sources, the scripts change these only. */
const OTHER_SOURCE = /\/(?:src|browser)\/.*(?<!\/version)\.\w+$/;

/** A Git repository with what the release scripts read and write: manifests, changelogs, version constants. */
export async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "outrigger-project-"));
  const parts = [
    "package.json",
    "package-lock.json",
    ".changeset",
    "SECURITY.md",
    "scripts",
    "packages",
    "examples",
  ];
  for (const part of parts) {
    await cp(join(root, part), join(copy, part), {
      recursive: true,
      filter: (path) =>
        !LEFT_OUT.has(basename(path)) &&
        !CHANGE_FILE.test(path) &&
        !OTHER_SOURCE.test(path.slice(root.length)),
    });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await promisify(execFile)("git", ["init", "--quiet"], { cwd: copy });
  return copy;
}

export interface Outcome {
  status: number;
  output: string;
}

/** Runs a script of the project in `directory`, and gives everything that it prints. */
export async function runScript(directory: string, script: string, ...args: string[]): Promise<Outcome> {
  return new Promise((settle) => {
    execFile(process.execPath, [script, ...args], { cwd: directory }, (error, stdout, stderr) => {
      settle({ status: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
    });
  });
}

export async function readText(directory: string, path: string): Promise<string> {
  return readFile(join(directory, path), "utf8");
}
