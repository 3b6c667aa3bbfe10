import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packages of this project as a second installation in the same process has them: its modules, and so its classes, are others. */
export interface ForeignCopies {
  load<Package>(name: string): Promise<Package>;
}

/**
 * Installs copies of the built packages under `directory`; what they depend on is this project's own.
 * @param edit changes a file of core, given by its path below `dist`.
 */
export function installForeignCopies(
  directory: string,
  names: readonly string[],
  edit?: { file: string; change(source: string): string },
): ForeignCopies {
  const scope = join(directory, "app/node_modules/@outrigger");
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"), "junction");
  for (const name of names) {
    for (const part of ["package.json", "dist"]) {
      cpSync(join(root, "packages", name, part), join(scope, name, part), { recursive: true });
    }
  }
  if (edit !== undefined) {
    const path = join(scope, "core/dist", edit.file);
    const source = readFileSync(path, "utf8");
    const changed = edit.change(source);
    if (changed === source) throw new Error(`${edit.file} is not what the edit expects`);
    writeFileSync(path, changed);
  }
  return {
    load: (name) => import(pathToFileURL(join(scope, name, "dist/index.js")).href),
  };
}
