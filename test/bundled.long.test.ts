import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRenderer } from "@outrigger/imaging";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "./support/programs.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Serves one upload, then prints its status and what went to `onError`. */
const SERVER = `
import { createServer } from "node:http";
import { createImages, createMemoryBlobStore } from "@outrigger/core";
import { express } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { createPages } from "@outrigger/web";

async function main() {
  const errors = [];
  const images = createImages({
    storage: createMemoryBlobStore(),
    secret: "a secret of thirty-two bytes or more",
    renderer: createRenderer({ workers: 1 }),
    pages: createPages(),
    asyncAfterMs: false,
    onError: (error) => errors.push(error.message + " " + error.cause?.message),
  });
  const server = createServer((req, res) => express(images)(req, res, () => res.end())).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const statuses = [];
  for (let upload = 0; upload < 2; upload++) {
    const form = new FormData();
    form.set("imagedata", new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'], { type: "image/svg+xml" }), "a.svg");
    const url = "http://127.0.0.1:" + server.address().port + "/api/images.json";
    const { status } = await fetch(url, { method: "POST", body: form, headers: { "User-Agent": "Test/1.0" } });
    statuses.push(status);
  }
  server.close();
  server.closeAllConnections();
  await images.close();
  console.log(JSON.stringify({ statuses, errors, build: createRenderer().build }));
}
main();
`;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-bundled-"));
  await writeFile(join(directory, "server.mjs"), SERVER);
});
afterEach(() => rm(directory, { recursive: true }));

/** Links to the packages, and copies of those that a test changes. */
async function install(...copied: string[]): Promise<void> {
  const scope = join(directory, "node_modules/@outrigger");
  await mkdir(scope, { recursive: true });
  for (const name of ["core", "node", "express", "imaging", "web"]) {
    const from = join(ROOT, "packages", name);
    if (!copied.includes(name)) await symlink(from, join(scope, name));
    else {
      await cp(join(from, "dist"), join(scope, name, "dist"), { recursive: true });
      await cp(join(from, "package.json"), join(scope, name, "package.json"));
    }
  }
}

interface Printed {
  statuses: number[];
  errors: string[];
  build: string;
}

async function serve(file: string): Promise<Printed> {
  const { stdout, stderr, status } = await run(process.execPath, [join(directory, file)]);
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout.toString());
}

/** Libraries without `main` and code: only what a tool that copies imported files keeps. */
async function installLibraries(): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(ROOT, "packages/imaging/package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const target = join(directory, "node_modules", name);
    await mkdir(target, { recursive: true });
    const { version } = JSON.parse(await readFile(join(ROOT, "node_modules", name, "package.json"), "utf8"));
    await writeFile(join(target, "package.json"), JSON.stringify({ name, version }));
  }
}

test("a worker that ends before it is ready reaches onError once, and each upload gets 503", async () => {
  await install("imaging");
  await installLibraries();
  const dist = join(directory, "node_modules/@outrigger/imaging/dist");
  await writeFile(join(dist, "worker/worker.js"), 'throw new Error("no codec for this machine");');
  const { statuses, errors } = await serve("server.mjs");
  expect(statuses).toEqual([503, 503]);
  expect(errors).toEqual([expect.stringMatching(/^No render process .*no codec for this machine/s)]);
});

test("the build of a renderer needs no library that this process could resolve, as after file tracing", async () => {
  await install("imaging");
  await installLibraries();
  // sharp's own binaries count too.
  await symlink(join(ROOT, "node_modules/@img"), join(directory, "node_modules/@img"));
  const traced = await serve("server.mjs");
  const renderer = createRenderer();
  expect(traced.build).toBe(renderer.build);
  await renderer.close();
});
