import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const LEFT_OUT = new Set(["node_modules", "dist", "test", ".turbo"]);

/** A Git repository with what the release scripts read: manifests, changelogs, sources; not what is built. */
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
      // Change files of the next release would change the outcome.
      filter: (path) => !LEFT_OUT.has(basename(path)) && !/\.changeset\/(?!README)[^/]*\.md$/.test(path),
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
