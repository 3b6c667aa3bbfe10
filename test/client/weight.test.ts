import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("in a bundle for browsers the images client weighs less than 8 kB compressed, and resumable uploads less than 30 kB more", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: 'export { createImagesClient } from "@outrigger/client";',
      resolveDir: import.meta.dirname,
    },
    ...{ bundle: true, splitting: true, minify: true, write: false, outdir: "bundle" },
    ...{ format: "esm", platform: "browser", target: "es2022" },
  });
  const weights = outputFiles.map(({ path, contents }) => [path, gzipSync(contents).length] as const);
  const [own] = weights.filter(([path]) => path.endsWith("stdin.js"));
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  expect(own?.[1]).toBeLessThan(8_000);
  expect(all).toBeLessThan(38_000);
});
