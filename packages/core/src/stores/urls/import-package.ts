// Not `createRequire` by its name: banners of ESM bundles declare it.
import nodeModule from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ServiceError, systemCode } from "../../errors.ts";

/**
 * Imports the first of the packages, which the app installs. Under pnpm they lie where only the app finds them, not beside this
 * package.
 * @param subject What needs them, for the error.
 */
export async function importPackage<T>(
  subject: string,
  packages: readonly [string, ...string[]],
): Promise<T> {
  const [name] = packages;
  let failure: unknown;
  try {
    return await importByName(name);
  } catch (error) {
    failure = error;
  }
  const path = isMissing(name, failure) ? pathFromApp(name) : null;
  try {
    if (path !== null) return await importByName(pathToFileURL(path).href);
  } catch (error) {
    failure = error;
  }
  if (!packages.some((each) => isMissing(each, failure))) throw failure;
  throw new ServiceError(
    "host_misuse",
    `${subject} needs packages that are not installed. Install them: npm install ${packages.join(" ")}`,
    { cause: failure },
  );
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

/** Whether the error reports that this package, and not one of its own dependencies, is missing. */
function isMissing(name: string, error: unknown): boolean {
  return systemCode(error) === "ERR_MODULE_NOT_FOUND" && String(error).includes(`'${name}'`);
}
