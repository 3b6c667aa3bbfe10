import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Packages of this project as a second installation in the same process has them: its modules, and so its classes, are others. */
export interface ForeignCopies {
  load<Package>(name: string): Promise<Package>;
}

/**
 * Installs copies of the built packages under `directory`; what they depend on is this project's own.
 * @param edit changes the files of core that fit.
 */
export function installForeignCopies(
  directory: string,
  names: readonly string[],
  edit?: (source: string) => string,
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
    const folder = join(scope, "core/dist");
    const changed = readdirSync(folder)
      .filter((name) => name.endsWith(".js"))
      .map((name) => ({ path: join(folder, name), source: readFileSync(join(folder, name), "utf8") }))
      .filter(({ source }) => edit(source) !== source);
    if (changed.length === 0) throw new Error("No file of core is what the edit expects");
    for (const { path, source } of changed) writeFileSync(path, edit(source));
  }
  return {
    load: (name) => import(pathToFileURL(join(scope, name, "dist/index.js")).href),
  };
}
