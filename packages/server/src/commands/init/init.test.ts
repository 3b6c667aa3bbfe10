import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/outrigger-process.ts";
import { HOSTS, type Host, type HostName } from "./hosts.ts";
import { linesFor } from "./init.ts";
import { lookAtApp } from "./look-at-app.ts";

/** A directory with these files. Objects are written as JSON. */
async function appWith(files: Record<string, string | object>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return directory;
}

function using(...names: string[]) {
  return { dependencies: Object.fromEntries(names.map((name) => [name, "*"])) };
}

const hosts = Object.entries<Host>(HOSTS) as [HostName, Host][]; // The keys of HOSTS.

it.each(hosts)("init prints for %s only lines that its guide has", async (host, { guide }) => {
  const pages = await Promise.all(
    [guide, "docs/mounting.md"].map((path) =>
      readFile(new URL(`../../../../../${path}`, import.meta.url), "utf8"),
    ),
  );
  const known = new Set(pages.flatMap((page) => page.split("\n").map((line) => line.trim())));
  const { imports, code } = linesFor({ host, manager: "npm", syntax: "import", main: "app.js" });
  const unknown = [...imports, ...code].filter((line) => !known.has(line.trim()));
  expect(unknown.filter((line) => line !== "")).toEqual([]);
});

it.each<[string, string[], HostName]>([
  ["Express", ["express", "koa-compose"], "express"],
  ["Koa", ["koa"], "koa"],
  ["Fastify", ["fastify"], "fastify"],
  ["NestJS, which names Express too", ["@nestjs/core", "express"], "nest"],
  ["Next.js", ["next", "react"], "next"],
  ["Hono", ["hono", "@hono/node-server"], "hono"],
  ["no framework", ["lodash"], "node"],
])("init recognizes %s by package.json", async (_, names, host) => {
  const app = lookAtApp(await appWith({ "package.json": using(...names) }));
  expect(app).toMatchObject({ host, isPlain: host === "node", main: null });
});

it("init finds the main file by the scripts and by the framework it imports", async () => {
  const files = {
    "package.json": { ...using("koa"), type: "module", scripts: { start: "node --watch ./start.js" } },
    "start.js": 'import "./server.js";',
    "app.js": "export {};",
    "server.js": 'import Koa from "koa";',
  };
  expect(lookAtApp(await appWith(files))).toMatchObject({ main: "server.js", syntax: "import" });
  const started = { ...files, "server.js": "", "start.js": 'import Koa from "koa";' };
  expect(lookAtApp(await appWith(started))).toMatchObject({ main: "start.js" });
});

it("init writes require for CommonJS, and import for modules and TypeScript", async () => {
  const common = await appWith({ "package.json": using("express"), "index.js": 'require("express")' });
  expect(lookAtApp(common)).toMatchObject({ syntax: "require", isTypeScript: false, main: "index.js" });
  const { imports } = linesFor({ host: "express", manager: "npm", syntax: "require", main: "index.js" });
  expect(imports).toContain('const { express: outrigger } = require("@outrigger/express");');
  const typed = await appWith({ "package.json": using("express"), "src/main.ts": "" });
  expect(lookAtApp(typed)).toMatchObject({ syntax: "import", isTypeScript: true, main: "src/main.ts" });
});

it.each([
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
] as const)("init takes the package manager of %s, also from a directory above", async (file, manager) => {
  const directory = await appWith({ [file]: "", "apps/web/package.json": using("hono") });
  expect(lookAtApp(join(directory, "apps/web")).manager).toBe(manager);
});

it("init follows the field packageManager before lock files", async () => {
  const manifest = { ...using("koa"), packageManager: "pnpm@9.1.0" };
  const app = lookAtApp(await appWith({ "package.json": manifest, "yarn.lock": "" }));
  const { install } = linesFor(app);
  expect(install).toBe("pnpm add @outrigger/core @outrigger/imaging @outrigger/koa @outrigger/web");
});

it("init names the choice if several frameworks fit, and follows --host", async () => {
  const directory = await appWith({ "package.json": using("express", "koa") });
  expect(() => lookAtApp(directory)).toThrow("names Express and Koa. Choose one: outrigger init --host");
  expect(lookAtApp(directory, "koa").host).toBe("koa");
});

it("init names the root of a monorepo, a missing and a damaged package.json", async () => {
  const root = await appWith({ "package.json": { workspaces: ["apps/*"] } });
  expect(() => lookAtApp(root)).toThrow("is the root of a monorepo");
  const empty = await appWith({});
  expect(() => lookAtApp(empty)).toThrow(`There is no package.json in ${empty}`);
  const damaged = await appWith({ "package.json": "{" });
  expect(() => lookAtApp(damaged)).toThrow("package.json cannot be read");
});
