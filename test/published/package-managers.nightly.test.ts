// Nightly: three package managers install everything anew.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksIn, readPages } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import { blankProject, type Project } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const VERSIONS = JSON.parse(await readFile(new URL("foreign-packages.json", import.meta.url), "utf8"));
const APP = blocksIn(await readPages(), "js").find(({ file }) => file === "app.js")?.code ?? "";
const SERVER = `
import { createShutdown } from "@outrigger/express";
import { app, images } from "./app.js";
const server = app.listen(Number(process.env.PORT), () => console.log("runs"));
process.once("SIGTERM", createShutdown(server, [images]));
`;
const PATIENCE = 180_000;

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry?.close());

/** The app of docs/mounting.md, installed by the command `program` of the package `source`. */
async function withApp(
  [source, program, ...args]: [source: string, program: string, ...args: string[]],
  files: Record<string, string>,
  body: (project: Project) => Promise<void>,
): Promise<void> {
  const project = await blankProject(registry, {
    dependencies: [...["core", "express", "imaging", "web"].map((name) => `@outrigger/${name}`), "express"],
    files: { "app.js": APP, "server.js": SERVER, ...files },
    install: ["npm", "exec", "--yes", `--package=${source}@${VERSIONS[source]}`, "--", program, ...args],
  });
  try {
    await body(project);
  } finally {
    await project.close();
  }
}

const start = ({ directory }: Project, port: number, ...nodeArgs: string[]) =>
  startProcess([...nodeArgs, "server.js"], {
    cwd: directory,
    env: { PORT: String(port), IMAGES_DIRECTORY: join(directory, "data") },
    announcement: /runs/,
  });

async function expectFlow(project: Project): Promise<void> {
  const port = await freePort();
  const app = await start(project, port);
  try {
    const checks = await flow(`http://127.0.0.1:${port}/img`);
    expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
  } finally {
    await app.kill();
  }
}

const yarn = ["@yarnpkg/cli-dist", "yarn", "install"] as [string, string, string];
const yarnFiles = (nodeLinker: string) => ({
  "yarn.lock": "",
  ".yarnrc.yml": JSON.stringify({
    nodeLinker,
    npmScopes: { outrigger: { npmRegistryServer: registry.url } },
    // Yarn waits some days before it installs a new version.
    npmPreapprovedPackages: ["@outrigger/*"],
    unsafeHttpWhitelist: ["127.0.0.1"],
    ...{ enableTelemetry: false, enableImmutableInstalls: false },
  }),
});

test(
  "an app that pnpm installed serves the flow",
  async () => {
    await withApp(["pnpm", "pnpm", "install"], {}, expectFlow);
  },
  PATIENCE,
);

test(
  "an app that Yarn installed into node_modules serves the flow",
  async () => {
    await withApp(yarn, yarnFiles("node-modules"), expectFlow);
  },
  PATIENCE,
);

test(
  "under Yarn's Plug'n'Play createRenderer throws and names the setting",
  async () => {
    await withApp(yarn, yarnFiles("pnp"), async (project) => {
      const starting = start(
        project,
        await freePort(),
        "--require",
        "./.pnp.cjs",
        "--loader",
        "./.pnp.loader.mjs",
      );
      await expect(starting).rejects.toThrow("Set nodeLinker: node-modules in .yarnrc.yml");
    });
  },
  PATIENCE,
);
