import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/listen.ts";
import { run } from "../support/programs.ts";
import { blocksIn, chapterOf, ROOT, readPage } from "./pages.ts";
import { writeStandIns } from "./stand-ins.ts";

const page = await readPage("README.md");
const codeOf = (lang: string) =>
  blocksIn([page], lang)
    .filter((block) => chapterOf(page, block) === "Use")
    .map(({ code }) => code);
const [images = "", lookup = ""] = codeOf("js");
const [variables = "", commands = ""] = codeOf("sh");
const PEOPLE = "email,first_name,last_name\nada.lovelace@example.com,Ada,Lovelace\n";

/** An empty folder of a reader, with a file of contacts and what `npm install` brings. */
async function readersFolder() {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-readme-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const cwd = join(directory, "reader");
  await writeStandIns(join(directory, ".bin"));
  await run("mkdir", [cwd]);
  await symlink(join(ROOT, "node_modules"), join(cwd, "node_modules"));
  await writeFile(join(cwd, "people.csv"), PEOPLE);
  const basics: Record<string, string> = {
    PATH: `${join(directory, ".bin")}:${process.env.PATH}`,
    HOME: cwd,
  };
  const shell = async (script: string, env = basics) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const bash = ["/bin/bash", "-ec", `umask 022\ncd "${cwd}"\n${script}`];
    const { stdout, stderr, status } = await run("env", ["-i", ...variables, ...bash]);
    return { stdout: stdout.toString(), stderr, status };
  };
  return { cwd, basics, shell };
}

/** Runs the app of the page. @returns its mount of the lookup */
async function startApp(cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const port = await freePort();
  const code = `import express from "express";\nconst app = express();\n${images}\n${lookup}`;
  const changed = code.replace(
    "app.listen(3000)",
    `app.listen(${port}, "127.0.0.1", () => console.log("up"))`,
  );
  expect(changed).not.toBe(code);
  await writeFile(join(cwd, "app.mjs"), changed);
  const app: ChildProcess = spawn(process.execPath, ["app.mjs"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(app, "close");
  onTestFinished(async () => {
    app.kill("SIGKILL");
    await ended;
  });
  if (app.stdout !== null) await Promise.race([once(app.stdout, "data"), ended]);
  expect(app.exitCode).toBeNull();
  return `http://127.0.0.1:${port}/people/v2`;
}

test("the lines of README, in an empty folder, lead app and command to one database, so an objection reaches the app", async () => {
  const { cwd, basics, shell } = await readersFolder();
  const exported = await shell(`${variables}\nenv -0`);
  const env = Object.fromEntries(
    exported.stdout.split("\0").map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
  const base = await startApp(cwd, env);
  const done = await shell(commands, env);
  expect(done.status, done.stderr).toBe(0);
  const database = `outrigger: lookup database file:${join(cwd, "lookup.db")}`;
  // The app may have made it before.
  expect(done.stderr.replace(" (new)", "")).toBe(`${database}\n${database}\n`);
  const [, key = ""] = /^Key: ([0-9a-f]{40})$/m.exec(done.stdout) ?? [];
  const ask = async (operation: string, parameters: Record<string, string>) => {
    const search = new URLSearchParams({ ...parameters, api_key: key });
    const response = await fetch(`${base}/${operation}?${search}`);
    return { status: response.status, text: await response.text() };
  };
  expect((await ask("account", {})).status).toBe(200);
  const person = { domain: "example.com", full_name: "Ada Lovelace" };
  const found = await ask("email-finder", person);
  expect([found.status, JSON.parse(found.text).data.email]).toEqual([200, "ada.lovelace@example.com"]);
  expect((await ask("domain-search", { domain: "example.com" })).text).toContain("ada.lovelace@");

  // In a terminal without the variables.
  const lost = await shell("npx outrigger suppress ada.lovelace@example.com", basics);
  expect([lost.status, lost.stderr]).toEqual([1, expect.stringContaining("There is no lookup database")]);
  const other = { ...env, OUTRIGGER_SECRET: "another secret of thirty-two bytes and more" };
  const refused = await shell("npx outrigger suppress ada.lovelace@example.com", other);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("made with another secret")]);
  expect((await ask("email-finder", person)).status).toBe(200);

  const suppressed = await shell("npx outrigger suppress ada.lovelace@example.com", env);
  expect([suppressed.status, suppressed.stdout]).toEqual([0, "ada.lovelace@example.com suppressed\n"]);
  expect((await ask("email-finder", person)).status).toBe(451);
  expect((await ask("domain-search", { domain: "example.com" })).text).not.toContain("ada.lovelace@");
  const files = (await readdir(cwd, { recursive: true })).filter((name) => /lookup\.db/.test(name));
  expect(files).toContain("lookup.db");
  for (const file of files) {
    expect(file).not.toContain("/");
    expect((await stat(join(cwd, file))).mode & 0o777, file).toBe(0o600);
  }
});
