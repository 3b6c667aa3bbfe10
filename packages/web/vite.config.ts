import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import sharp from "sharp";
import { build, defineConfig, type Plugin } from "vite";

/** Background of the icon. */
const BRAND = "#0b5f6e";

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
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      input: {
        upload: here("browser/upload/main.tsx"),
        viewer: here("browser/viewer/main.ts"),
        edit: here("browser/edit/main.ts"),
        reference: here("browser/reference/main.ts"),
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [icon(), shareWorker(), compressed()],
});

/** Emits the icon of all pages, which no script imports, and the icons of the installed app. */
function icon(): Plugin {
  const source = readFileSync(here("browser/icon.svg"));
  const drawn = (side: number) => sharp(source, { density: 72 * 16 }).resize(side, side);
  /** Systems cut a shape out of a maskable icon, and keep its middle. */
  const maskable = async (side: number) =>
    sharp(source, { density: 72 * 16 })
      .flatten({ background: BRAND })
      .resize(Math.round(side * 0.75))
      .extend({ top: side / 8, bottom: side / 8, left: side / 8, right: side / 8, background: BRAND });
  return {
    name: "icon",
    async buildStart() {
      this.emitFile({ type: "asset", name: "icon.svg", source });
      for (const side of [192, 512]) {
        const bytes = await drawn(side).png({ compressionLevel: 9 }).toBuffer();
        this.emitFile({ type: "asset", name: `icon-any-${side}.png`, source: bytes });
      }
      const bytes = await (await maskable(512)).png({ compressionLevel: 9 }).toBuffer();
      this.emitFile({ type: "asset", name: "icon-maskable-512.png", source: bytes });
    },
  };
}

/** Emits the service worker as one script: it is served outside the folder of the assets. */
function shareWorker(): Plugin {
  return {
    name: "share-worker",
    async buildStart() {
      const built = await build({
        configFile: false,
        logLevel: "warn",
        build: {
          write: false,
          target: "es2022",
          rollupOptions: {
            input: here("browser/share-target/worker.ts"),
            output: { format: "iife" },
          },
        },
      });
      const [result] = [built].flat();
      const [chunk] = result !== undefined && "output" in result ? result.output : [];
      if (chunk === undefined) throw new Error("The share worker was not built");
      this.emitFile({ type: "asset", fileName: "share-target.js", source: chunk.code });
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
