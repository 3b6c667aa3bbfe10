// Nightly: builds an app of another framework, a minute each; published-hosts.long.test.ts has the flow.
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn, readPages } from "../documents/pages.ts";
import { freePort } from "../support/listen.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import { expectDocumented, type HostOutcome, type HostRow } from "./host-table.ts";
import { NEXT_HOSTS } from "./next-hosts.ts";
import { blankProject, type Project, runIn } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const OWN = ["core", "fetch", "imaging", "node", "web"].map((name) => `@outrigger/${name}`);
const GUIDE = Object.fromEntries(
  blocksIn(await readPages(), "js")
    .filter(
      ({ page, file }) =>
        page === "docs/mounting.md" && /^(?:(?:lib|app|pages)\/|next\.|server\.js)/.test(file),
    )
    .map(({ file, code }) => [file, code]),
);
const LAYOUT = `export default ({ children }) => <html lang="en"><body>{children}</body></html>;`;
const OWN_PAGE = "export default () => <p>My app</p>;";

describe("an app that follows docs/mounting.md, built with output: standalone", () => {
  let registry: Registry;
  let project: Project;
  /** A copy of `.next/standalone` where no other `node_modules` is above it. */
  let standalone: string;
  const outcomes: HostOutcome[] = [];

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

  async function expectFlow(row: HostRow, cwd: string, path: string, port: number, script: string) {
    const origin = `http://127.0.0.1:${port}`;
    const app = await startProcess([script], {
      cwd,
      env: {
        ...{ PORT: String(port), HOSTNAME: "127.0.0.1", NODE_ENV: "production" },
        ...{ IMAGES_DIRECTORY: join(cwd, `data${port}`), IMAGES_URL: origin + path },
      },
      announcement: /Ready in|runs/,
    });
    try {
      expect(await (await fetch(origin)).text()).toContain("My app");
      const checks = await flow(origin + path);
      outcomes.push({ ...row, versions: `next ${await project.versionOf("next")}`, checks });
      const expected = row.limits?.checks ?? [];
      const failed = checks.filter(({ name, failure }) => failure !== undefined && !expected.includes(name));
      expect(failed).toEqual([]);
    } finally {
      await app.kill();
    }
  }

  test("the route handler serves the flow from the standalone folder alone", async () => {
    await expectFlow(NEXT_HOSTS.route, standalone, "/img", await freePort(), "server.js");
  });

  test("the pages route serves the flow from the standalone folder alone", async () => {
    await expectFlow(NEXT_HOSTS.pages, standalone, "/api/pictures", await freePort(), "server.js");
  });

  test("the custom server serves the flow beside the pages of Next.js", async () => {
    const port = await freePort();
    const program = (GUIDE["server.js"] ?? "").replace("3000", String(port));
    const file = join(project.directory, "server.js");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${program}\nconsole.log("runs");\n`);
    await expectFlow(NEXT_HOSTS.custom, project.directory, "/photos", port, "server.js");
  });

  test("docs/mounting.md has the outcome of each way", () => {
    expect(outcomes).toHaveLength(3);
    expectDocumented(outcomes);
  });
});
