import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { outrigger, temporaryDirectory } from "../test/outrigger-process.ts";

async function run(...args: string[]) {
  const { exit, output } = outrigger(args, { cwd: await temporaryDirectory() });
  return { code: await exit, ...output };
}

it("outrigger --version prints the version of the package", async () => {
  const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

it("serve --help explains flags, environment and configuration file", async () => {
  const general = await run("--help");
  expect(general).toMatchObject({ code: 0, stderr: "" });
  expect(general.stdout).toContain("serve");
  const { code, stdout } = await run("serve", "--help");
  expect(code).toBe(0);
  for (const word of ["--port", "--host", "--config", "--data", "PORT", "OUTRIGGER_SECRET", "Examples:"]) {
    expect(stdout).toContain(word);
  }
});

it.each(["--help", "serve --help"])("%s ends quietly when its reader closes the pipe", async (args) => {
  const command = fileURLToPath(new URL("../bin/outrigger.js", import.meta.url));
  const { stderr } = await promisify(execFile)("sh", [
    "-c",
    `"${process.execPath}" "${command}" ${args} | true`,
  ]);
  expect(stderr).toBe("");
});

it("the help of every images command has options, examples and exit codes", async () => {
  const general = await run("images", "--help");
  expect(general).toMatchObject({ code: 0, stderr: "" });
  const commands = ["withhold", "release", "rm", "list", "stats", "sweep"];
  for (const name of commands) expect(general.stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  const explained = await Promise.all(commands.map((name) => run("images", name, "--help")));
  for (const { code, stdout } of explained) {
    expect(code).toBe(0);
    for (const word of ["--config", "--data", "Examples:", "Exit codes:"]) expect(stdout).toContain(word);
  }
});

it("an unknown command or option exits with 2", async () => {
  const unknownCommand = await run("sevre");
  expect(unknownCommand.code).toBe(2);
  expect(unknownCommand.stderr).toContain("unknown command 'sevre'");
  const unknownImagesCommand = await run("images", "withold");
  expect(unknownImagesCommand.code).toBe(2);
  expect(unknownImagesCommand.stderr).toContain("unknown command 'withold'");
  expect(await run("images")).toMatchObject({ code: 2, stdout: "" });
  const unknownOption = await run("serve", "--prot", "80");
  expect(unknownOption.code).toBe(2);
  expect(unknownOption.stderr).toContain("unknown option '--prot'");
});

it.each([20, 64])(
  "serve with at most %i open files ends with one sentence that names the limit",
  async (limit) => {
    const bin = fileURLToPath(new URL("../bin/outrigger.js", import.meta.url));
    const line = `ulimit -n ${limit}; exec "$0" "$1" serve --port 0`;
    const cwd = await temporaryDirectory();
    const failure = await promisify(execFile)("sh", ["-c", line, process.execPath, bin], { cwd }).catch(
      (error) => error,
    );
    expect(failure).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `outrigger: The limit of open files, ${limit}, is too low. Raise it to 4096 or more, with ulimit -n, LimitNOFILE= (systemd) or --ulimit (Docker).\n`,
    });
  },
);

it.each([
  ["keys", "create", "--account", "acme"],
  ["serve", "--port", "0"],
])(
  "%s ends at once if the kernel refuses to create the directory of the lookup's database",
  async (...args) => {
    const env = {
      OUTRIGGER_SECRET: "s".repeat(32),
      OUTRIGGER_LOOKUP_DATABASE: "file:/proc/outrigger/lookup.db",
    };
    const { exit, output } = outrigger(args, { cwd: await temporaryDirectory(), env });
    expect(await exit).toBe(1);
    expect(output.stderr).toContain(
      "The directory /proc/outrigger of the lookup's database cannot be used: its file",
    );
  },
);

it("serve with a data directory that the kernel refuses to create exits with the reason", async () => {
  expect(await run("serve", "--port", "0", "--data", "/proc/outrigger/data")).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "outrigger: The data directory /proc/outrigger/data cannot be used: its file system does not allow directories to be created\n",
  });
});
