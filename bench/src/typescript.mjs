import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

/**
 * Loads a module of the tests, which is TypeScript, by the tests' own loader: Node 20 has none.
 * @template Module
 * @param {() => Promise<Module>} _type Only for its type; never called.
 * @param {string} path From the root of the repository.
 */
export async function loadTypeScript(_type, path) {
  const vite = await createViteServer({
    configFile: false,
    root: fileURLToPath(new URL("../..", import.meta.url)),
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, watch: null, ws: false, hmr: false },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    return /** @type {Module} */ (await vite.ssrLoadModule(path)); // Of that file, whose path is the same.
  } finally {
    await vite.close();
  }
}
