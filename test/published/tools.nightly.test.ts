// Nightly: bundlers, type checkers and test runners of other projects.
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, readPages } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import { blankProject, type Project, runIn } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const OWN = ["core", "express", "imaging", "web"].map((name) => `@outrigger/${name}`);
const TOOLS = ["express", "supertest", "jest", "vitest", "esbuild", "webpack"];
const TOOL_FILES = ["webpack.config.cjs", "app.js", "images.test.js"];
const GUIDE = Object.fromEntries(
  blocksIn(await readPages(), "js")
    .filter(({ page, file }) => page === "docs/mounting.md" && TOOL_FILES.includes(file))
    .map(({ file, code }) => [file, code]),
);
const TEST = GUIDE["images.test.js"] ?? "";
const FILES = {
  ...GUIDE,
  "server.js": `
import { createShutdown } from "@outrigger/express";
import { app, images } from "./app.js";
const server = app.listen(Number(process.env.PORT), () => console.log("runs"));
process.once("SIGTERM", createShutdown(server, [images]));
`,
  "jest/images.test.js": TEST.replace('"vitest"', '"@jest/globals"').replace("./app.js", "../app.js"),
  "vitest/images.test.js": TEST.replace("./app.js", "../app.js"),
  // `webpack --config`, without the package webpack-cli.
  "bundle.cjs": `
require("webpack")(require("./webpack.config.cjs"), (error, stats) => {
  if (!error && !stats.hasErrors()) return;
  console.error(error ?? stats.toString({ preset: "errors-only" }));
  process.exitCode = 1;
});
`,
};

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry?.close());

describe("an app that follows docs/mounting.md", () => {
  let project: Project;
  beforeAll(async () => {
    project = await blankProject(registry, { dependencies: [...OWN, ...TOOLS], files: FILES });
  }, 240_000);
  afterAll(() => project?.close());

  const runTests = (name: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
    runIn(project.directory, process.execPath, args, {
      ...{ NODE_ENV: "test", IMAGES_DIRECTORY: join(project.directory, `data-${name}`) },
      ...env,
    });

  test("its test passes in Jest, which ends by itself", async () => {
    const jest = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "jest"];
    const output = await runTests("jest", jest);
    expect(output).toMatch(/Tests:\s+1 passed, 1 total/);
    expect(output).not.toContain("did not exit");
  });

  test.each([
    ["forks", {}],
    ["vmThreads", { NODE_OPTIONS: "--no-experimental-require-module" }],
  ])("its test passes in Vitest with the pool %s", async (pool, env) => {
    const output = await runTests(
      pool,
      ["node_modules/vitest/vitest.mjs", "run", "vitest", `--pool=${pool}`],
      env,
    );
    expect(stripVTControlCharacters(output)).toMatch(/Tests\s+1 passed/);
  });

  const esbuild = (...external: string[]) =>
    runIn(project.directory, "node_modules/.bin/esbuild", [
      ...["server.js", "--bundle", "--platform=node", "--outfile=server.cjs", "--log-level=error"],
      ...external.map((name) => `--external:${name}`),
    ]);
  const webpack = () => runIn(project.directory, process.execPath, ["bundle.cjs"]);
  const serve = (port: number) =>
    startProcess(["server.cjs"], {
      cwd: project.directory,
      env: { PORT: String(port), IMAGES_DIRECTORY: join(project.directory, `data-${port}`) },
      announcement: /runs/,
    });

  test.each([
    ["esbuild", () => esbuild("@outrigger/imaging", "@outrigger/web")],
    ["webpack", () => webpack()],
  ] as const)("its server serves the flow from one file of %s", async (_, bundle) => {
    await bundle();
    const port = await freePort();
    const app = await serve(port);
    try {
      const checks = await flow(`http://127.0.0.1:${port}/img`);
      expect(checks.filter(({ failure }) => failure !== undefined)).toEqual([]);
      app.child.kill("SIGTERM");
      expect(await app.exit).toBe(0);
    } finally {
      await app.kill();
    }
  });

  test.each([
    ["imaging", ["@outrigger/web"]],
    ["imaging", []],
    ["web", ["@outrigger/imaging"]],
  ])("a file of esbuild with %s inside ends at its start, and names that package", async (name, external) => {
    await esbuild(...external);
    await expect(serve(await freePort())).rejects.toThrow(`leave @outrigger/${name} out of the bundle`);
  });
});

test("without optional dependencies uploads get 501, onError has the reason once, and sql names the driver of files", async () => {
  const project = await blankProject(registry, {
    dependencies: ["@outrigger/core", "@outrigger/imaging", "@outrigger/node", "@outrigger/sql"],
    files: { "server.js": WITHOUT_OPTIONAL },
    install: ["npm", "install", "--omit=optional", "--prefer-offline", "--no-audit", "--no-fund"],
  });
  try {
    const app = await startProcess(["server.js"], { cwd: project.directory });
    try {
      const form = new FormData();
      form.set(
        "imagedata",
        new File(["<svg xmlns='http://www.w3.org/2000/svg'/>"], "a.svg", { type: "image/svg+xml" }),
      );
      const upload = async () => {
        const reply = await fetch(`${app.announced}/api/images.json`, { method: "POST", body: form });
        return { status: reply.status, text: await reply.text() };
      };
      for (const { status, text } of [await upload(), await upload()]) {
        expect([status, JSON.parse(text)]).toMatchObject([501, { title: "Not Implemented", status: 501 }]);
        expect(text).not.toMatch(/sharp|librar|npm|node_modules/);
      }
    } finally {
      app.child.kill("SIGTERM");
      await app.exit;
    }
    const { file, postgres, errors } = JSON.parse(app.output().split("\n").at(-2) ?? "");
    expect(file).toMatch(/libsql.*@libsql\/.*npm install --include=optional libsql/s);
    expect(postgres).toBe("opened");
    expect(errors).toEqual([expect.stringMatching(/cannot load its libraries: .*sharp/s)]);
  } finally {
    await project.close();
  }
});

const WITHOUT_OPTIONAL = `
import { createServer } from "node:http";
import { createImages, createMemoryBlobStore } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { nodeListener } from "@outrigger/node";
import { openDatabase } from "@outrigger/sql";

const open = (url) => {
  try {
    openDatabase({ url });
    return "opened";
  } catch (error) {
    return error.message;
  }
};
const result = { file: open("file:./lookup.db"), postgres: open("postgres://127.0.0.1:1/none"), errors: [] };
const images = createImages({
  storage: createMemoryBlobStore(),
  secret: "a secret of thirty-two bytes or more",
  renderer: createRenderer(),
  asyncAfterMs: false,
  onError: (error) => result.errors.push(error.message + " " + error.cause?.message),
});
const server = createServer(nodeListener(images)).listen(0, "127.0.0.1", () =>
  console.log("http://127.0.0.1:" + server.address().port + " "),
);
process.once("SIGTERM", () => {
  console.log(JSON.stringify(result));
  process.exit();
});
`;
