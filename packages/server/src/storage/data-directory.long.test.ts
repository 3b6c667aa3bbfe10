import { chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { images } from "../../test/images-command.ts";
import { outrigger, temporaryDirectory } from "../../test/outrigger-process.ts";
import { requireDataDirectory } from "./data-directory.ts";

const COMMANDS = [["list"], ["rm", "--yes", "a".repeat(22)], ["withhold", "--reason", "x", "a".repeat(22)]];

describe("outrigger images without a data directory", () => {
  it("does not create a missing data directory", async () => {
    const cwd = await temporaryDirectory();
    const data = join(cwd, "daat");
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await images(cwd, ...command, "--data", "daat");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`There is no data directory ${data}. Set it with --data`);
    }
    expect(await readdir(cwd)).toEqual([]);
  });

  it("writes nothing into a directory that is not a data directory", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "data"));
    await writeFile(join(cwd, "file"), "");
    expect((await images(cwd, "list")).stderr).toContain("is not a data directory of Outrigger");
    expect(await images(cwd, "list", "--data", "file")).toMatchObject({ code: 1 });
    expect(await readdir(join(cwd, "data"))).toEqual([]);
  });

  it("exits with 2 for an invalid configuration", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), '{ "dat": "x" }');
    expect(await images(cwd, "list")).toMatchObject({
      code: 2,
      stderr: "outrigger: outrigger.config.json is not valid\ndat: unknown key, did you mean data?\n",
    });
  });
});

describe("requireDataDirectory", () => {
  it("rejects a data directory of another user, whose server could not read new files", async () => {
    const directory = await temporaryDirectory();
    await createFsBlobStore({ directory }).close();
    const userId = process.getuid?.() ?? 0;
    expect(() => requireDataDirectory(directory, userId)).not.toThrow();
    expect(() => requireDataDirectory(directory, undefined)).not.toThrow();
    expect(() => requireDataDirectory(directory, userId + 1)).toThrow(`sudo -u '#${userId}'`);
  });
});

describe.runIf(process.getuid?.() === 0)("a start as root", () => {
  it("over the data of another user is refused with the remedy, and writes nothing", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "blobs"));
    await chown(join(directory, "blobs"), 65_534, 65_534);
    const { exit, output } = outrigger(["serve", "--data", ".", "--port", "0"], { cwd: directory });
    expect(await exit).toBe(1);
    expect(output.stderr).toMatch(/The images in .* belong to user ID 65534, but this process runs as 0/);
    expect(output.stderr).toContain("sudo -u '#65534'");
    expect(await readdir(directory, { recursive: true })).toEqual(["blobs"]);
  });
});
