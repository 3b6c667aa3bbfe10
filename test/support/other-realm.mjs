// The service as Jest runs it: modules of ours in a context of their own, whose Error is not the one of Node's errors.
// Run with --experimental-vm-modules; the argument is an empty directory. Prints what each step of an upload came to.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const intrinsics = new Set(vm.runInNewContext("Object.getOwnPropertyNames(globalThis)"));
const shared = Object.getOwnPropertyNames(globalThis).filter((name) => !intrinsics.has(name));
// Jest shares these two with its environment as well, since Buffers are made of them.
const context = vm.createContext(
  Object.fromEntries([...shared, "Uint8Array", "ArrayBuffer"].map((name) => [name, globalThis[name]])),
);
const modules = new Map();

/** Ours are evaluated in the context, once each; all others are those of this realm. */
function load(specifier, parent) {
  const url = isBuiltin(specifier)
    ? specifier
    : import.meta.resolve(specifier.startsWith(".") ? new URL(specifier, parent).href : specifier);
  const isOurs = /\/packages\/[a-z0-9]+\/dist\//.test(url);
  if (!modules.has(url)) modules.set(url, isOurs ? ownModule(url) : foreignModule(url));
  return modules.get(url);
}

async function ownModule(url) {
  return new vm.SourceTextModule(await readFile(fileURLToPath(url), "utf8"), {
    identifier: url,
    context,
    initializeImportMeta: (meta) => {
      meta.url = url;
      meta.resolve = (specifier) => import.meta.resolve(specifier);
    },
  });
}

async function foreignModule(url) {
  const namespace = await import(url);
  const names = Object.keys(namespace);
  return new vm.SyntheticModule(
    names,
    function evaluate() {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { identifier: url, context },
  );
}

async function imported(name) {
  const module = await load(name, import.meta.url);
  await module.link((specifier, { identifier }) => load(specifier, identifier));
  await module.evaluate();
  return module.namespace;
}

const { createFsBlobStore, createImages } = await imported("@outrigger/core");
const { createRenderer } = await imported("@outrigger/imaging");
const { nodeListener } = await imported("@outrigger/node");

const failures = [];
const images = createImages({
  storage: createFsBlobStore({ directory: process.argv[2] }),
  renderer: createRenderer(),
  asyncAfterMs: false,
  onError: (error) => failures.push(String(error)),
});
const server = createServer(nodeListener(images)).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const form = new FormData();
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>';
form.append("imagedata", new Blob([picture], { type: "image/svg+xml" }), "square.svg");
const created = await fetch(`${origin}/api/images.json`, { method: "POST", body: form });
const { id, pin } = created.ok ? await created.json() : { id: "none", pin: "none" };
const missing = await fetch(`${origin}/api/images/${"A".repeat(22)}.json`);
const png = await fetch(`${origin}/api/images/${id}.png`);
const removed = await fetch(`${origin}/api/images/${id}.json`, {
  method: "DELETE",
  headers: { "X-Service-Image-Pin": pin },
});
const gone = await fetch(`${origin}/api/images/${id}.png`);
await new Promise((resolve) => server.close(resolve));
server.closeAllConnections();
await images.close();
const isOther = vm.runInContext("Error", context) !== Error;
const statuses = [created, missing, png, removed, gone].map(({ status }) => status);
console.log(JSON.stringify({ isOther, statuses, failures }));
