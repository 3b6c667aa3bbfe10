import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSelfSigned } from "../backends/self-signed.ts";
import { freePort } from "../support/listen.ts";
import { pngPhoto } from "../support/pictures.ts";
import { startProcess } from "../support/start-process.ts";
import { flow } from "./flow.ts";
import type { HostOutcome } from "./host-table.ts";
import { http1Client } from "./http-client.ts";
import { MULTIPART, multipart } from "./multipart.ts";
import { type PlainHost, RUNTIMES } from "./plain-hosts.ts";
import { blankProject, type Project } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const RENDERER = "renderer: createRenderer(";
const LOGGING = `logger: { warn() {}, error() {}, info: (fields, message) => console.log(message, JSON.stringify(fields)) }, ${RENDERER}`;
const OWN = ["core", "express", "fetch", "imaging", "koa", "node", "web"].map((name) => `@outrigger/${name}`);

/**
 * Declares that the packages, installed outside the checkout, serve the flow in these hosts.
 * @returns the project, from the first test on, and the outcomes so far.
 */
export function servesTheFlow(rows: readonly PlainHost[]) {
  const foreign = rows.flatMap(({ packages = [], runtime }) =>
    runtime === undefined ? packages : [...packages, RUNTIMES[runtime].name],
  );
  let registry: Registry;
  let project: Project;
  const client = http1Client({ keepAlive: false });
  const outcomes: HostOutcome[] = [];

  beforeAll(async () => {
    registry = await startRegistry();
    project = await blankProject(registry, {
      dependencies: [...new Set([...OWN, ...foreign, "koa-bodyparser"])],
    });
    await createSelfSigned(project.directory);
  });
  afterAll(async () => {
    client.close();
    await project?.close();
    await registry?.close();
  });

  test("the packages are installed from their tarballs, not linked to the checkout", async () => {
    for (const name of OWN) expect(await project.versionOf(name)).toBe(registry.packages.get(name));
    const lock = join(project.directory, "node_modules/.package-lock.json");
    const { packages } = JSON.parse(await readFile(lock, "utf8"));
    for (const name of OWN) {
      const { versions } = JSON.parse((await client.send(registry.url + name)).body.toString());
      const { link, version, integrity } = packages[`node_modules/${name}`];
      expect([link, integrity]).toEqual([undefined, versions[version].dist.integrity]);
    }
  });

  test.each(rows.map((row) => [row.host.replaceAll(/[[`\]]|\(.*?\)/g, ""), row] as const))(
    "%s serves the flow, keeps its own addresses, logs the request and the client of an upload, and ends at SIGTERM",
    async (_name, row) => {
      const { packages = [], path = "/img", isTls = false, own, runtime } = row;
      const port = await freePort();
      const origin = `${isTls ? "https" : "http"}://127.0.0.1:${port}`;
      const directory = join(project.directory, `host-${rows.indexOf(row)}`);
      await mkdir(directory);
      const files = Object.entries(row.files({ port, base: origin + path }));
      const [[first] = [""]] = files;
      for (const [name, content] of files) {
        const end = name === first ? 'console.log("runs");\n' : "";
        await writeFile(join(directory, name), `${content.replaceAll(RENDERER, LOGGING)}\n${end}`);
      }
      const app = await startProcess([first], {
        ...(runtime && { program: commandOf(runtime, project.directory) }),
        ...{ cwd: directory, announcement: /runs/ },
      });
      try {
        await expect.poll(() => client.send(`${origin}${path}/`).then(() => true, String)).toBe(true);
        if (own !== undefined) expect((await client.send(origin + own)).body.toString()).toBe("My app");
        const checks = await flow(origin + path, row);
        const versions = await Promise.all(
          packages.map(async (name) => `${name.replace(/-\d$/, "")} ${await project.versionOf(name)}`),
        );
        if (runtime !== undefined)
          versions.push(`${runtime} ${await project.versionOf(RUNTIMES[runtime].name)}`);
        outcomes.push({ ...row, versions: versions.join(", ") || "Node’s own", checks });
        const expected = row.failing ?? [];
        expect(
          checks.filter(({ name, failure }) => failure !== undefined && !expected.includes(name)),
        ).toEqual([]);
        const [requestId, agent] = ["7f3c-19", { name: "Flow", version: "1.0" }];
        const sent = { ...row.user, "User-Agent": "Flow/1.0", "X-Request-Id": requestId };
        const created = await client.send(`${origin}${path}/api/images.json`, {
          method: "POST",
          headers: { ...sent, "Content-Type": MULTIPART },
          body: multipart({ bytes: await pngPhoto(64, 48), type: "image/png", fileName: "traced.png" }),
        });
        const { id } = JSON.parse(created.body.toString());
        const logged = () =>
          app.output().match(new RegExp(`image (?:stored|received) ({.*"id":"${id}".*})`))?.[1] ?? "{}";
        await expect
          .poll(() => JSON.parse(logged()))
          .toMatchObject({ requestId, agent, client: "127.0.0.0/24" });
        app.child.kill("SIGTERM");
        // A cluster's primary ends after its processes, whose channels keep it alive.
        expect(row.isSpread ? [0] : [0, "SIGTERM"]).toContain(await app.exit);
      } finally {
        await app.kill();
      }
    },
  );
  return { project: () => project, outcomes };
}

/** The command that runs a program in another runtime. @param directory Where it is installed. */
export function commandOf(runtime: keyof typeof RUNTIMES, directory: string): string[] {
  const { name, program } = RUNTIMES[runtime];
  const [file, ...args] = program;
  return [join(directory, "node_modules", name, file), ...args];
}
