import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the pages' files, one entry per page. `src/assets.ts` finds them in Vite's manifest. */
export default defineConfig({
  root: here("browser"),
  base: "./",
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: here("dist/assets"),
    assetsDir: "",
    emptyOutDir: true,
    manifest: "manifest.json",
    // The licences of bundled packages must be distributed with the bundle.
    license: { fileName: "licenses.md" },
    target: "es2022",
    // An inlined style sheet or picture would need a wider policy.
    assetsInlineLimit: 0,
    // The pages preload the modules themselves, by the manifest.
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      input: {
        upload: here("browser/upload/main.tsx"),
        viewer: here("browser/viewer/main.ts"),
        edit: here("browser/edit/main.ts"),
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [icon(), compressed()],
});

/** Emits the icon of all pages, which no script imports. */
function icon(): Plugin {
  return {
    name: "icon",
    buildStart() {
      this.emitFile({ type: "asset", name: "icon.svg", source: readFileSync(here("browser/icon.svg")) });
    },
  };
}

/** Writes compressed versions next to each file. */
function compressed(): Plugin {
  return {
    name: "compressed",
    closeBundle() {
      const directory = here("dist/assets");
      for (const name of readdirSync(directory)) {
        if (!/\.(?:js|css|svg)$/.test(name)) continue;
        const bytes = readFileSync(join(directory, name));
        const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
        writeFileSync(join(directory, `${name}.br`), brotliCompressSync(bytes, best));
        writeFileSync(join(directory, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      }
    },
  };
}
