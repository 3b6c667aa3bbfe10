// Nightly: builds an app of another framework; published-hosts.long.test.ts has the flow.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { blocksIn, readPages } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import { expectDocumented } from "./host-table.ts";
import { NEST_HOST } from "./next-hosts.ts";
import { blankProject, type Project } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const OWN = ["core", "express", "imaging", "web"].map((name) => `@outrigger/${name}`);
const NEST = ["@nestjs/common", "@nestjs/core", "@nestjs/platform-express", "reflect-metadata", "rxjs"];
/** What the reader of the guide has. */
const APP_MODULE = `
import { createPages } from "@outrigger/web";
import { Module } from "@nestjs/common";
class AppModule {}
Module({})(AppModule);
`;

let registry: Registry;
let project: Project;
beforeAll(async () => {
  registry = await startRegistry();
  project = await blankProject(registry, { dependencies: [...OWN, ...NEST] });
}, 240_000);
afterAll(async () => {
  await project?.close();
  await registry?.close();
});

test("the main.ts of docs/mounting.md serves the flow in NestJS, and docs/mounting.md has its outcome", async () => {
  const [block] = blocksIn(await readPages(), "js").filter(
    ({ page, code }) => page === "docs/mounting.md" && code.includes('from "@nestjs/core"'),
  );
  const port = await freePort();
  const guide = (block?.code ?? "")
    .replace("3000", String(port))
    .replace("renderer: createRenderer(),", "renderer: createRenderer(), pages: createPages(),");
  const program = `${APP_MODULE}${guide}\nconsole.log("runs");\n`;
  await writeFile(join(project.directory, "main.js"), program);
  const app = await startProcess(["main.js"], { cwd: project.directory, announcement: /runs/ });
  try {
    const origin = `http://127.0.0.1:${port}`;
    await vi.waitFor(() => fetch(origin), { timeout: 20_000 });
    const checks = await flow(`${origin}/img`);
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expectDocumented([
      { ...NEST_HOST, versions: `@nestjs/core ${await project.versionOf("@nestjs/core")}`, checks },
    ]);
  } finally {
    await app.kill();
  }
});
