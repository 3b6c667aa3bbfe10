// Nightly: installs the packages from a registry; what each part needs is tested beside its source too.
import { execFile } from "node:child_process";
import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpeg, serve, uploaded } from "../../packages/server/test/outrigger-process.ts";
import { ROOT } from "../documents/pages.ts";
import { blankProject, type Project } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

const SERVER = ["express", "imaging", "node", "web"];

describe("the command as published, without the parts of a server", () => {
  let registry: Registry;
  let project: Project;

  beforeAll(async () => {
    registry = await startRegistry();
    project = await blankProject(registry, { dependencies: ["outrigger"] });
  }, 180_000);
  afterAll(async () => {
    await project?.close();
    await registry?.close();
  });

  /** Runs the installed command. Of the environment it inherits only PATH. */
  async function run(args: readonly string[], env: Record<string, string> = {}) {
    const bin = join(project.directory, "node_modules/outrigger/bin/outrigger.js");
    const options = { cwd: project.directory, env: { PATH: process.env.PATH ?? "", ...env } };
    return promisify(execFile)(process.execPath, [bin, ...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  }

  test("the installation has at most 12 packages and 12 MB", async () => {
    const modules = join(project.directory, "node_modules");
    const lock = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8"));
    expect(Object.keys(lock.packages).length).toBeLessThanOrEqual(12);
    const entries = await readdir(modules, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(12e6);
  });

  test("images rm works on the data of a running server", async () => {
    const url = await serve(project.directory).url;
    const { id } = await uploaded(url, await jpeg());
    expect(await run(["images", "rm", "--yes", id])).toMatchObject({ code: 0, stderr: "" });
    expect((await fetch(`${url}/${id}`)).status).toBe(410);
  });

  test("serve exits with one line that installs all parts that its configuration needs", async () => {
    const versions = [...registry.packages];
    const own = (name: string) => `@outrigger/${name}@${new Map(versions).get(`@outrigger/${name}`)}`;
    const base = [...SERVER.map(own), "express@5", "pino@10"];
    const lacking = (subject: string, names: readonly string[]) => ({
      code: 1,
      stdout: "",
      stderr: `outrigger: ${subject} packages that are not installed. Install them: npm install ${names.join(" ")}\n`,
    });
    expect(await run(["serve"])).toEqual(lacking("A server needs", base));
    const names = base.map((each) => each.replace(/(?!^)@.*/, "")).join(" ");
    expect(await readFile(join(ROOT, "packages/server/README.md"), "utf8")).toContain(names);
    expect(await run(["serve", "--demo"])).toEqual(
      lacking("A server and the email lookup need", [...base, own("sql"), own("verifier")]),
    );
    const env = { OUTRIGGER_SECRET: "s".repeat(32), OUTRIGGER_LOOKUP_DATABASE: "postgres://127.0.0.1:1/x" };
    const config = {
      storage: { records: "redis://127.0.0.1:1", originals: "s3://pictures", renditions: "s3://pictures" },
    };
    await writeFile(join(project.directory, "all.json"), JSON.stringify(config));
    expect(await run(["serve", "--config", "all.json"], env)).toEqual(
      lacking("A server, the email lookup, storage in Redis, and storage in S3 need", [
        ...[...base, own("sql"), own("verifier")],
        ...[own("redis"), own("s3"), "@aws-sdk/client-s3@3"],
      ]),
    );
  });

  test("commands on the data of a server name the one part that they need", async () => {
    const { code, stderr } = await run(["keys", "create", "--account", "acme"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/npm install @outrigger\/sql@\S+\n$/)]);
    const checked = await run(["serve", "--check"]);
    expect(checked).toMatchObject({ code: 1, stdout: "" });
    expect(checked.stderr).toContain(
      "A server needs packages that are not installed. Install them: npm install",
    );
    // The server of the test above has made it.
    expect(await run(["images", "list"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("createServer rejects with the line, also from CommonJS", async () => {
    const script = 'require("outrigger").createServer().catch((error) => console.log(error.message))';
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], {
      cwd: project.directory,
    });
    expect(stdout).toContain(
      "A server needs packages that are not installed. Install them: npm install @outrigger/",
    );
  });

  test("serve beside an app's older Express says which version it needs", async () => {
    await symlink(
      join(ROOT, "node_modules/express-4"),
      join(project.directory, "node_modules/express"),
      "dir",
    );
    const { code, stderr } = await run(["serve"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^outrigger: A server needs express 5, but this directory has express 4\.\d+\.\d+\. /,
      ),
    ]);
  });
});
