import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes a module into `directory` under which a package is not installed. @returns the environment that loads it first. */
export async function withoutPackage(directory: string, name: string): Promise<Record<string, string>> {
  const hook = `export async function resolve(specifier, context, next) {
    if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);
    throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
  const module = `data:text/javascript,${encodeURIComponent(hook)}`;
  const path = join(directory, "without-package.mjs");
  await writeFile(path, `import { register } from "node:module";\nregister(${JSON.stringify(module)});\n`);
  return { NODE_OPTIONS: `--import ${path}` };
}
