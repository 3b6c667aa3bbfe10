import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Project as OldProject } from "ts-morph-22";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { publicPackages } from "../scripts/release/packages.mjs";
import { run } from "./support/programs.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Hosts in the words of the guides. */
const HOST = `
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { type Call, type ImagesOptions, type LookupOptions, createFsBlobStore, createImages, createLookup, createMemoryBlobStore } from "@outrigger/core";
import { createShutdown, express as outrigger } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa } from "@outrigger/koa";
import { nodeListener } from "@outrigger/node";
import { createPages } from "@outrigger/web";
import express, { type Request } from "express";
import Koa, { type Context } from "koa";

const app = express();
const shared: Partial<ImagesOptions> = { publicUrl: process.env.PUBLIC_URL, secret: process.env.IMAGES_SECRET };
const images = createImages({
  ...shared,
  storage: createFsBlobStore({ directory: "./data" }),
  renderer: createRenderer({ workers: process.env.WORKERS ? Number(process.env.WORKERS) : undefined }),
  pages: createPages({ productName: process.env.NAME }),
  rateLimits: { creates: undefined },
  authorize: (call, action) => {
    if (action === "read") return undefined;
    return call.context.user ? { owner: call.context.user.id } : false;
  },
});
app.use("/img", outrigger(images));
const server = app.listen(3000);
process.once("SIGTERM", createShutdown(server, [images], { timeoutMs: undefined }));

createImages({
  storage: createMemoryBlobStore(),
  renderer: createRenderer(),
  authorize: (call: Call<Request>) => call.context.get("X-Team") === "ours",
});
createImages({
  storage: createMemoryBlobStore(),
  renderer: createRenderer(),
  // @ts-expect-error an Express request has no such member
  authorize: (call: Call<Request>) => call.context.nothing.user,
});
createImages({
  storage: createMemoryBlobStore(),
  renderer: createRenderer(),
  authorize: (call: Call<Context>) => call.context.get("X-Team") === "ours",
});
const inKoa = new Koa().use(koa(images, { prefix: undefined }));
createShutdown(inKoa.listen(), [images]);
createShutdown(createServer(nodeListener(images)), [images]);
createShutdown(createSecureServer({ allowHTTP1: true }, nodeListener(images, { mountPath: undefined })), [images]);
declare const rest: LookupOptions;
createLookup({ ...rest, authenticate: (call) => call.context.account, onError: undefined });
`;

/** Users of the client, and of what their compiler knows as bytes. */
const CLIENT = `
import { createImagesClient, createLookupClient } from "@outrigger/client";

const images = createImagesClient({ baseUrl: "https://example.com/img", fetch: undefined });
export async function copy(file: Blob): Promise<Blob> {
  const image = await images.upload(file, { name: undefined, onProgress: undefined });
  const { bytes, type } = await images.download(image.id, "webp");
  return new Blob([await bytes()], { type });
}
export const lookup = createLookupClient({ baseUrl: "https://example.com", apiKey: "key" });
`;

const STRICT = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
  ...{ target: "es2022", lib: ["es2023", "dom", "dom.iterable"], types: ["node"], noImplicitReturns: true },
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-types-"));
  await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(directory, { recursive: true }));

/** What a compiler says: the one of this repository, or TypeScript 5.4, which ts-morph 22 contains. */
async function compile(compiler: "present" | "5.4", source: string, options: object): Promise<string> {
  const project = await mkdtemp(join(directory, "project-"));
  await writeFile(join(project, "app.ts"), source);
  const tsconfig = { compilerOptions: { ...STRICT, ...options }, files: ["app.ts"] };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(tsconfig));
  if (compiler === "5.4") {
    const old = new OldProject({ tsConfigFilePath: join(project, "tsconfig.json") });
    return old.formatDiagnosticsWithColorAndContext(old.getPreEmitDiagnostics());
  }
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", project, "--pretty", "false"]);
  return stdout.toString();
}

const NODENEXT = { module: "nodenext", moduleResolution: "nodenext" };
const BUNDLER = { module: "esnext", moduleResolution: "bundler" };
const NODE10 = { module: "commonjs", moduleResolution: "node", esModuleInterop: true };

test.each([
  ["nodenext", { ...NODENEXT, verbatimModuleSyntax: true }],
  ["bundler", BUNDLER],
  ["without exactOptionalPropertyTypes", { ...NODENEXT, exactOptionalPropertyTypes: false }],
])("an app in the words of the guides compiles strictly, module resolution: %s", async (_, options) => {
  expect(await compile("present", HOST, { ...options, skipLibCheck: true })).toBe("");
});

test("an app compiles with TypeScript 5.4 and the module resolution node", async () => {
  expect(await compile("5.4", HOST, { ...NODE10, skipLibCheck: true })).toBe("");
});

/** Every entry point of our packages. */
const ENTRIES = publicPackages(ROOT).flatMap(({ manifest: { name, exports = {} } }) =>
  Object.keys(Object(exports))
    .filter((path) => !path.endsWith("json") && name !== "outrigger")
    .map((path) => name + path.slice(1)),
);

test("the declarations of every package compile where only its dependencies are installed", async () => {
  // Outside of the directory above, which has all packages.
  const project = await mkdtemp(join(tmpdir(), "outrigger-installed-"));
  onTestFinished(() => rm(project, { recursive: true }));
  const names = new Set(["@types/node"]);
  const add = (folder: string) => {
    const {
      dependencies,
      peerDependencies,
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      const place = join(ROOT, "node_modules", name);
      if (names.has(name) || peerDependenciesMeta[name]?.optional || !existsSync(place)) continue;
      names.add(name);
      add(place);
    }
  };
  for (const { directory: folder, manifest } of publicPackages(ROOT)) {
    names.add(manifest.name);
    add(join(ROOT, folder));
  }
  add(join(ROOT, "node_modules/@types/node"));
  for (const name of names) {
    const link = join(project, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), link);
  }
  expect([...names]).not.toContain("@aws-sdk/client-s3");
  expect(ENTRIES).toEqual(
    expect.arrayContaining(["@outrigger/s3", "@outrigger/sql", "@outrigger/core/stores"]),
  );
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  const imports = ENTRIES.map((entry, index) => `export * as e${index} from "${entry}";`);
  await writeFile(join(project, "app.ts"), imports.join("\n"));
  const compilerOptions = { ...STRICT, ...NODENEXT, preserveSymlinks: true, skipLibCheck: false };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", project, "--pretty", "false"]);
  // Those of Node have a fault of their own.
  const faults = stdout
    .toString()
    .split("\n")
    .filter((line) => /^[^ ].*TS\d+/.test(line) && !line.includes("@types/node/"));
  expect(faults).toEqual([]);
});

test.each([
  ["present", "nodenext", NODENEXT],
  ["present", "bundler", BUNDLER],
  ["5.4", "nodenext", NODENEXT],
  ["5.4", "bundler", BUNDLER],
  ["5.4", "node", NODE10],
] as const)(
  "the client and its declarations compile with TypeScript %s, module resolution: %s",
  async (compiler, _, options) => {
    expect(await compile(compiler, CLIENT, { ...options, types: [], skipLibCheck: false })).toBe("");
  },
);
