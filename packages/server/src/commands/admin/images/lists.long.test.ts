import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { expect, it } from "vitest";
import { addRecords, images } from "../../../../test/images-command.ts";
import { outrigger, temporaryDirectory } from "../../../../test/outrigger-process.ts";

const UNKNOWN = "-aaaaaaaaaaaaaaaaaaaaa";

/** Writes blobs into the data directory below `cwd`. */
async function putBlobs(cwd: string, blobs: Record<string, string>): Promise<void> {
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  for (const [key, text] of Object.entries(blobs)) await store.put(key, Buffer.from(text));
  await store.close();
}

/** An open report. */
const REPORT = {
  ...{ reference: "ABCDEFGHJK", receivedAt: 1, dueAt: 2, count: 1 },
  ...{ reasons: ["other"], statements: [], contacts: [], decision: null },
};

/** Three held images, of which two are reported and the third is damaged afterwards. */
async function heldImages() {
  const cwd = await temporaryDirectory();
  const held = { held: { since: Date.now() } };
  const [first = "", second = "", damaged = ""] = await addRecords(cwd, [held, held, held]);
  const reports = JSON.stringify({ v: 1, cases: [REPORT] });
  const ofReported = { [`reports/${first}`]: reports, [`reports/${second}`]: reports };
  await putBlobs(cwd, { [`${damaged}/record`]: "garbage", ...ofReported });
  const rows = ["# decided today", "", first, `https://img.example.com/${first}/view`, damaged, UNKNOWN];
  return { cwd, first, second, damaged, list: [...rows, second].join("\r\n") };
}

/** Runs `outrigger images …` with a standard input. */
async function withInput(cwd: string, input: string, ...args: string[]) {
  const { exit, output } = outrigger(["images", ...args], { cwd, input });
  return { code: await exit, ...output };
}

const REASON = ["--reason", "Under review"];

it.each([
  ["accept", "accepted", [], "fails"],
  ["refuse", "refused", REASON, "fails"],
  ["keep", "kept", ["--note", "Harmless"], "fails"],
  ["withhold", "withheld", REASON, "works"],
  ["rm", "deleted", ["--yes"], "works"],
] as const)(
  "images %s takes a list from a file or standard input, changes each image once, goes on after a failure, and exits with 1",
  async (command, done, options, ofDamaged) => {
    for (const isInput of [false, true]) {
      const { cwd, first, second, damaged, list } = await heldImages();
      const path = join(cwd, "list.txt");
      await writeFile(path, list);
      const { code, stdout, stderr } = isInput
        ? await withInput(cwd, list, command, "--from", "-", ...options)
        : await images(cwd, command, "--from", path, ...options);
      const changed = ofDamaged === "works" ? [first, damaged, second] : [first, second];
      expect(stdout).toBe(changed.map((id) => `${id} ${done}\n`).join(""));
      expect(code).toBe(1);
      expect(stderr).toContain(
        `${UNKNOWN}: ${command === "keep" ? "This image was not reported" : "There is no such image"}`,
      );
      expect(stderr).toContain(`${changed.length} ${done}, ${4 - changed.length} failed`);
      expect(stderr.includes(`${damaged}: `)).toBe(ofDamaged === "fails");
    }
  },
);

it("a list without an image, one that is missing, and an empty standard input exit with 2 and change nothing", async () => {
  const { cwd } = await heldImages();
  const path = join(cwd, "list.txt");
  await writeFile(path, "# nothing\n\n");
  for (const [from, message] of [
    [path, "has no image"],
    [join(cwd, "missing"), "cannot be read"],
    ["-", "has no image"],
  ] as const) {
    const { code, stdout, stderr } = await withInput(cwd, "", "accept", "--from", from);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  }
});
