import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jpeg, outrigger, upload } from "../../packages/server/test/outrigger-process.ts";
import { ROOT } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";

/** An app of a framework: lines before and after those that init prints. */
interface App {
  packages: string[];
  type: "module" | "commonjs";
  imports: string[];
  before: string[];
  after: string[];
}

const nest = [
  'require("reflect-metadata");',
  'const { Module } = require("@nestjs/common");',
  'const { NestFactory } = require("@nestjs/core");',
];
const APPS: Record<string, App> = {
  express: {
    packages: ["express"],
    type: "module",
    imports: ['import express from "express";'],
    before: ["const app = express();"],
    after: ["app.use(express.json());", "app.listen(PORT);"],
  },
  koa: {
    packages: ["koa"],
    type: "commonjs",
    imports: ['const Koa = require("koa");'],
    before: ["const app = new Koa();"],
    after: ["app.listen(PORT);"],
  },
  fastify: {
    packages: ["fastify"],
    type: "module",
    imports: [],
    before: [],
    after: ["await app.listen({ port: PORT });"],
  },
  hono: {
    packages: ["hono", "@hono/node-server"],
    type: "module",
    imports: ['import { serve } from "@hono/node-server";', 'import { Hono } from "hono";'],
    before: ["const app = new Hono();"],
    after: ["serve({ fetch: app.fetch, port: PORT });"],
  },
  nest: {
    packages: ["@nestjs/core", "@nestjs/common", "@nestjs/platform-express"],
    type: "commonjs",
    imports: nest,
    before: [
      "class AppModule {}",
      "Module({})(AppModule);",
      "(async () => {",
      "const app = await NestFactory.create(AppModule, { logger: false });",
    ],
    after: ["await app.listen(PORT);", "})();"],
  },
};

let place: string;

beforeAll(async () => {
  // Below the checkout, so that its packages are found.
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  place = await mkdtemp(join(cache, "init-"));
});
afterAll(() => rm(place, { recursive: true, force: true }));

test.each(Object.entries(APPS))(
  "the lines that init prints for %s make an app that stores and serves a picture",
  async (host, { packages, type, imports, before, after }) => {
    const cwd = join(place, host);
    await mkdir(cwd);
    const dependencies = Object.fromEntries(packages.map((name) => [name, "*"]));
    await writeFile(join(cwd, "package.json"), JSON.stringify({ type, dependencies }));
    await writeFile(join(cwd, "app.js"), imports.join("\n"));
    const { exit, output } = outrigger(["init", "--json"], { cwd });
    expect(await exit, output.stderr).toBe(0);
    expect((await readdir(cwd)).sort()).toEqual(["app.js", "package.json"]);
    const printed = JSON.parse(output.stdout);
    expect(printed).toMatchObject({ host, file: "app.js", main: "app.js" });
    const port = await freePort();
    const lines = [
      ...imports,
      ...printed.imports,
      ...before,
      ...printed.code,
      ...after,
      'console.log("runs");',
    ];
    await writeFile(join(cwd, "app.js"), lines.join("\n").replaceAll("PORT", String(port)));
    const app = await startProcess(["app.js"], { cwd, announcement: /runs/ });
    try {
      const base = `http://127.0.0.1:${port}/img`;
      await expect.poll(() => fetch(`${base}/`).catch(() => null), { timeout: 10_000 }).toBeTruthy();
      const stored = await upload(base, await jpeg());
      expect([201, 202]).toContain(stored.status);
      const { url } = (await stored.json()) as { url: string };
      expect(url.startsWith(`${base}/`)).toBe(true);
      await expect.poll(async () => (await fetch(url)).status, { timeout: 20_000 }).toBe(200);
    } finally {
      await app.kill();
    }
  },
  60_000,
);
