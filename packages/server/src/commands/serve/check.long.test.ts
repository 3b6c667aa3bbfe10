import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

// Each starts the command several times, and that a render process.
vi.setConfig({ testTimeout: 120_000 });

async function check(cwd: string, env: Record<string, string> = {}, ...args: string[]) {
  const { exit, output } = outrigger(["serve", "--check", ...args], { cwd, env });
  return { status: await exit, ...output };
}

/** An environment in which no font can be found. */
async function withoutFonts(directory: string): Promise<Record<string, string>> {
  const file = join(directory, "fonts.conf");
  await writeFile(file, "<fontconfig/>");
  return { FONTCONFIG_FILE: file };
}

/** Every path below a directory, with what changes when it is replaced or written. */
async function contentsOf(directory: string): Promise<string[]> {
  const all = await readdir(directory, { recursive: true });
  // A server notes there every minute what time it is.
  const paths = all.filter((path) => !path.startsWith("due/clock")).sort();
  const stats = await Promise.all(paths.map((path) => stat(join(directory, path))));
  return paths.map((path, index) => `${path} ${stats[index]?.ino} ${stats[index]?.size}`);
}

it("serve --check prints one line per check, exits with 0, and leaves no files", async () => {
  const cwd = await temporaryDirectory();
  const { status, stdout, stderr } = await check(cwd, {
    OUTRIGGER_LOOKUP_DATABASE: "file:./people/lookup.db",
  });
  expect(stdout.trimEnd().split("\n")).toEqual([
    "ok       settings: valid",
    `ok       storage: ${join(cwd, "data")}, which can be created`,
    "ok       secret: created at the first start",
    `ok       lookup database: file:${join(cwd, "people/lookup.db")}, which can be created`,
    expect.stringMatching(/^(?:ok {5}|warning) {2}sandbox: \w+/),
    expect.stringMatching(/^(?:ok {7}fonts: Latin, |warning {2}fonts: no font covers )/),
  ]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(await readdir(cwd)).toEqual([]);
});

it("serve --check beside a server on the same data changes nothing, and names a secret that others can read", async () => {
  const cwd = await temporaryDirectory();
  const image = await uploaded(await serve(cwd).url, await jpeg());
  const before = await contentsOf(join(cwd, "data"));
  const { status, stdout } = await check(cwd, {}, "--existing");
  expect(status).toBe(0);
  expect(stdout).toContain(`ok       storage: ${join(cwd, "data")}\n`);
  expect(stdout).toContain(`ok       secret: ${join(cwd, "data", "secret")}\n`);
  expect(await contentsOf(join(cwd, "data"))).toEqual(before);
  expect((await fetch(image.url)).status).toBe(200);
  await chmod(join(cwd, "data", "secret"), 0o644);
  const open = await check(cwd);
  expect([open.status, open.stdout]).toEqual([
    1,
    expect.stringMatching(/^problem {2}secret: .* can be read by other users\. Run chmod 600 .*secret\.$/m),
  ]);
});

it("serve --check exits with 1 without fonts or existing storage, and with 2 for settings that are wrong", async () => {
  const cwd = await temporaryDirectory();
  const { status, stdout } = await check(cwd, await withoutFonts(cwd), "--existing");
  expect([status, stdout.match(/^problem.*$/gm)]).toEqual([
    1,
    [
      expect.stringContaining(`problem  stores of the roles: There is no data directory ${cwd}`),
      expect.stringMatching(/^problem {2}fonts: none is installed: text in SVG pictures becomes boxes/),
    ],
  ]);
  const wrong = await check(cwd, { OUTRIGGER_PUBLIC_URL: "here" });
  expect(wrong).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining("OUTRIGGER_PUBLIC_URL"),
  });
});

it("serve logs a warning without fonts and still serves", async () => {
  const cwd = await temporaryDirectory();
  const server = serve(cwd, [], await withoutFonts(cwd));
  const url = await server.url;
  await server.logged("No fonts are installed: text in SVG pictures becomes boxes or disappears.");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
