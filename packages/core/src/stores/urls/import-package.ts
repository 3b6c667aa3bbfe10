// Not `createRequire` by its name: banners of ESM bundles declare it.
import nodeModule from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ServiceError, systemCode } from "../../errors.ts";

/**
 * Imports the first of the packages, which the app installs. Under pnpm and Yarn only the app finds them, not this package.
 * @param subject What needs them, for the error.
 */
export async function importPackage<T>(
  subject: string,
  packages: readonly [string, ...string[]],
): Promise<T> {
  const [name] = packages;
  const path = pathFromApp(name);
  try {
    return await importByName(path === null ? name : pathToFileURL(path).href);
  } catch (error) {
    if (!packages.some((each) => isMissing(each, error))) throw error;
    throw new ServiceError(
      "host_misuse",
      `${subject} needs packages that are not installed. Install them: npm install ${packages.join(" ")}`,
      { cause: error },
    );
  }
}

/** A bundler must neither follow nor rewrite this import: the name is not known before the app runs. */
function importByName<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}

/** Where the started script, or else the working directory, finds a package. */
function pathFromApp(name: string): string | null {
  for (const from of [process.argv[1], join(process.cwd(), "app.js")]) {
    try {
      if (from !== undefined) return nodeModule.createRequire(from).resolve(name);
    } catch {
      // Not from there.
    }
  }
  return null;
}

/** Whether the error, of Node.js or of Yarn's Plug'n'Play, reports that this package is missing, not one of its own dependencies. */
function isMissing(name: string, error: unknown): boolean {
  if (!systemCode(error)?.endsWith("MODULE_NOT_FOUND")) return false;
  return String(error).includes(`'${name}'`) || String(error).includes(` tried to access ${name},`);
}
