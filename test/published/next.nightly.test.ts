// Nightly: builds an app of another framework, a minute each; published-hosts.long.test.ts has the flow.
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, readPages } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import { expectDocumented } from "./host-table.ts";
import { NEXT_HOST } from "./next-hosts.ts";
import { blankProject, type Project, runIn } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const OWN = ["core", "fetch", "imaging", "node", "web"].map((name) => `@outrigger/${name}`);
const GUIDE = Object.fromEntries(
  blocksIn(await readPages(), "js")
    .filter(({ page, file }) => page === "docs/mounting.md" && /^(?:(?:lib|app)\/|next\.)/.test(file))
    .map(({ file, code }) => [file, code]),
);
const LAYOUT = `export default ({ children }) => <html lang="en"><body>{children}</body></html>;`;
const OWN_PAGE = "export default () => <p>My app</p>;";

describe("an app that follows docs/mounting.md, built with output: standalone", () => {
  let registry: Registry;
  let project: Project;
  /** A copy of `.next/standalone` where no other `node_modules` is above it. */
  let standalone: string;

  beforeAll(async () => {
    registry = await startRegistry();
    const dependencies = [...OWN, "next", "react", "react-dom"];
    const files = { ...GUIDE, "app/layout.js": LAYOUT, "app/page.js": OWN_PAGE };
    project = await blankProject(registry, { dependencies, files });
    await runIn(project.directory, process.execPath, ["node_modules/next/dist/bin/next", "build"]);
    standalone = await mkdtemp(join(tmpdir(), "outrigger-standalone-"));
    await cp(join(project.directory, ".next/standalone"), standalone, { recursive: true });
  }, 300_000);
  afterAll(async () => {
    if (standalone !== undefined) await rm(standalone, { recursive: true, force: true });
    await project?.close();
    await registry?.close();
  });

  test("the route handler serves the flow from the standalone folder alone, as docs/mounting.md says", async () => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const app = await startProcess(["server.js"], {
      cwd: standalone,
      env: {
        ...{ PORT: String(port), HOSTNAME: "127.0.0.1", NODE_ENV: "production" },
        ...{ IMAGES_DIRECTORY: join(standalone, "data"), IMAGES_URL: `${origin}/img` },
      },
      announcement: /Ready in/,
    });
    try {
      expect(await (await fetch(origin)).text()).toContain("My app");
      const checks = await flow(`${origin}/img`);
      expectDocumented([{ ...NEXT_HOST, versions: `next ${await project.versionOf("next")}`, checks }]);
    } finally {
      await app.kill();
    }
  });
});
