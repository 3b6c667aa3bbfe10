import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

/**
 * Writes a source file and all files it imports as one ES module into `directory`, for processes that run code which no
 * entry exports. @returns the URL of the module.
 */
export function bundleSource(source: URL, directory: string): string {
  const outfile = join(directory, "bundled-source.mjs");
  buildSync({
    entryPoints: [fileURLToPath(source)],
    outfile,
    ...{ bundle: true, format: "esm", platform: "node", logLevel: "error" },
  });
  return pathToFileURL(outfile).href;
}
