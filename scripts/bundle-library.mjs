// Bundles one library into the built file that names what is used of it, so that users do not install it: `node
// bundle-library.mjs dist/x/library.js`. The licences of what is bundled stand beside it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const [file] = process.argv.slice(2);
const { metafile } = await build({
  entryPoints: [file.replace(/^dist/, "src").replace(/\.js$/, ".ts")],
  outfile: file,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  charset: "utf8",
  logLevel: "warning",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  metafile: true,
  plugins: [{ name: "without side effects", setup: dropUnused }],
});

/** Lets the bundler drop modules of which nothing is used: the libraries do not say that they may be. */
function dropUnused({ onResolve, resolve }) {
  onResolve({ filter: /./ }, async ({ path, pluginData, importer, kind, resolveDir }) => {
    if (pluginData === "resolved") return undefined;
    const resolved = await resolve(path, { importer, kind, resolveDir, pluginData: "resolved" });
    return { ...resolved, sideEffects: false };
  });
}

const roots = new Set();
for (const [path, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
  const root = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
  if (root !== undefined && bytesInOutput > 0) roots.add(root);
}
const licences = [...roots].sort().map((root) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const text = readdirSync(root).find((entry) => /^licen[cs]e/i.test(entry));
  const body = text === undefined ? license : readFileSync(join(root, text), "utf8").trim();
  return `## ${name} ${version}\n\n${body}\n`;
});
writeFileSync(join(dirname(file), "licenses.md"), licences.join("\n"));
