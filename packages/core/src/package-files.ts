import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Finds files of a package that its code reads or runs. A bundler copies the code and leaves them behind.
 * @param factory Name of the factory, for the message.
 * @param name Name of the package.
 * @param locate Returns the files. It may throw: a bundle in CommonJS has no `import.meta.url`.
 * @returns The first file.
 * @throws Error that says what to leave out of the bundle, if a file is missing.
 */
export function packageFile(factory: string, name: string, locate: () => readonly [URL, ...URL[]]): URL {
  let missing = "its files";
  try {
    const files = locate();
    const absent = files.find((file) => !existsSync(file));
    if (absent === undefined) return files[0];
    missing = fileURLToPath(absent);
  } catch {
    // There is no place to look in.
  }
  throw new Error(
    `${factory} cannot find ${missing}. If your server is bundled, leave ${name} out of the bundle: ` +
      `mark it as external (esbuild: --external:${name}) and install it beside the bundle`,
  );
}
