import { createHash } from "node:crypto";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { expect, it } from "vitest";
import { refuseAccess } from "../../../../../core/test/without-access.ts";
import { SAMPLE_RECORD } from "../../../../test/images-command.ts";
import { outrigger, temporaryDirectory } from "../../../../test/outrigger-process.ts";

const BYTES = Buffer.from("an original");
const sha256 = createHash("sha256").update(BYTES).digest("hex");
/** Of two whole images, and of three that cannot be read. */
const [first = "", second = "", shard = "", image = "", chain = ""] = [..."abcde"].map(
  (c) => `${c.repeat(21)}A`,
);
const IDS = [first, second, shard, image, chain];

/** A data directory in which a shard, the directory of an image and a record may not be read, and how to run commands there. */
async function refusedPlace() {
  const cwd = await temporaryDirectory();
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  for (const id of IDS) {
    const record = { ...SAMPLE_RECORD, id, size: BYTES.length, sha256 };
    await store.put(`${id}/record`, Buffer.from(JSON.stringify(record)));
    await store.put(`${id}/original`, BYTES);
  }
  await store.close();
  const at = (id: string, ...path: string[]) => join(cwd, "data", "blobs", id.slice(0, 2), ...path);
  const paths = [at(shard), at(image, image), at(chain, chain, "record@")];
  const run = async (...args: string[]) => {
    const { exit, output } = outrigger(args, { cwd, isBound: true });
    return { code: await exit, ...output };
  };
  return { paths, run };
}

const remedyFor = (path: string) =>
  `this user has no access to ${path}; as root, chown -R ${process.geteuid?.()} ${path} gives it`;

it("list, stats and verify go on past what they may not read, name it with the remedy, and exit with 1", async () => {
  const { paths, run } = await refusedPlace();
  const permit = refuseAccess(paths);
  try {
    const table = await run("images", "list");
    expect(table.code).toBe(1);
    expect(table.stdout.match(/^\S{22}(?= {2})/gm)?.sort()).toEqual([first, second]);
    const json = await run("images", "list", "--json");
    expect(json.code).toBe(1);
    const listed = json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(listed.sort()).toEqual([first, second]);
    const stats = await run("images", "stats");
    expect(stats).toMatchObject({ code: 1, stdout: "" });
    for (const { stderr } of [table, json, stats]) {
      for (const path of paths) expect(stderr).toContain(remedyFor(path));
      expect(stderr).not.toMatch(/^ +at /m);
    }
    const verified = await run("images", "verify", "--json");
    expect(verified.code).toBe(1);
    const [report, ...findings] = verified.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .reverse();
    expect(report).toMatchObject({ images: 2, defects: 3, repaired: 0 });
    for (const path of paths) {
      const finding = { what: "unreadable", repair: null, detail: expect.stringContaining(remedyFor(path)) };
      expect(findings).toContainEqual(expect.objectContaining(finding));
    }
  } finally {
    permit();
  }
  expect(await run("images", "verify")).toMatchObject({ code: 0, stderr: "" });
});
