import { bytesText } from "@outrigger/core/values";
import { describe, expect, it } from "vitest";
import { addRecords, images, readRecord } from "../../../../test/images-command.ts";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../../test/outrigger-process.ts";

/** A data directory with one image for each change. */
async function stored(changes: Parameters<typeof addRecords>[1]) {
  const cwd = await temporaryDirectory();
  return { cwd, ids: await addRecords(cwd, changes) };
}

async function listed(cwd: string, ...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await images(cwd, "list", "--json", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

describe("outrigger images list", () => {
  it("prints a table, or with --json a line of JSON per image", async () => {
    const cwd = await temporaryDirectory();
    const image = await uploaded(await serve(cwd).url, await jpeg());
    const kept = await readRecord(cwd, image.id);
    const { createdAt, expiresAt, size } = kept as { createdAt: number; expiresAt: number; size: number };
    const minute = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
    const { stdout } = await images(cwd, "list");
    const [heading, line, ...rest] = stdout.split("\n");
    expect(heading?.split(/ {2,}/).slice(0, 3)).toEqual(["ID", "STATE", "TYPE"]);
    const cells = [image.id, "ready", "image/jpeg", bytesText(size)];
    expect(line?.split(/ {2,}/)).toEqual([...cells, minute(createdAt), minute(expiresAt), "stripes.jpg"]);
    expect(heading?.indexOf("NAME")).toBe(line?.indexOf("stripes.jpg"));
    expect(rest).toEqual([""]);
    expect(await listed(cwd)).toEqual([
      {
        id: image.id,
        state: "ready",
        sha256: kept.sha256,
        name: "stripes.jpg",
        description: null,
        type: "image/jpeg",
        size,
        owner: null,
        createdAt: new Date(createdAt).toISOString(),
        expiresAt: image.expiresAt,
      },
    ]);
  });

  it("filters by state and owner, and stops at --limit", async () => {
    const owner = { name: "alice", bytes: 9 };
    const withheld = { reason: "Under review", authority: null, since: 1, deleteAfter: null };
    const { cwd, ids } = await stored([{}, { owner }, { withheld }, { withheld, owner }]);
    const [, owned, refused, both] = ids;
    const idsOf = async (...args: string[]) => new Set((await listed(cwd, ...args)).map(({ id }) => id));
    expect(await idsOf()).toEqual(new Set(ids));
    expect(await idsOf("--owner", "alice")).toEqual(new Set([owned, both]));
    expect(await idsOf("--state", "withheld")).toEqual(new Set([refused, both]));
    expect(await listed(cwd, "--state", "withheld", "--owner", "alice")).toMatchObject([
      { id: both, state: "withheld", owner: "alice", reason: "Under review" },
    ]);
    expect(await idsOf("--owner", "bob")).toEqual(new Set());
    expect(await idsOf("--owner", "")).toEqual(new Set());
  });

  it("filters by the time of creation, from the first and before the second date", async () => {
    const times = [
      "2026-01-31T23:59:59.999Z",
      "2026-02-01T00:00:00Z",
      "2026-02-28T23:00:00Z",
      "2026-03-01T00:00:00Z",
    ];
    const { cwd, ids } = await stored(times.map((time) => ({ createdAt: Date.parse(time) })));
    const idsOf = async (...args: string[]) => new Set((await listed(cwd, ...args)).map(({ id }) => id));
    const february = ["--created-from", "2026-02-01", "--created-before", "2026-03-01T01:00:00+01:00"];
    expect(await idsOf(...february)).toEqual(new Set(ids.slice(1, 3)));
    expect(await idsOf("--created-from", "2026-02-28T23:00:00Z")).toEqual(new Set(ids.slice(2)));
    expect(await idsOf("--created-before", "2026-02-01")).toEqual(new Set(ids.slice(0, 1)));
  });

  it("escapes control characters in names", async () => {
    const hostile = "a\u001b]0;owned\u0007\u001b[2J\u009b31m\r\nb\u2028\u202egpj.exe\u007f\ud800";
    const { cwd, ids } = await stored([{ name: hostile }]);
    const table = await images(cwd, "list");
    expect(table.stdout).toContain("a\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u000d\\u000ab");
    expect(table.stdout.split("\n")).toHaveLength(3);
    const { stdout } = await images(cwd, "list", "--json");
    for (const text of [table.stdout, stdout]) {
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Bidi_Control}]/u);
    }
    expect(await listed(cwd)).toMatchObject([{ id: ids[0], name: hostile }]);
  });

  it("lists hundreds of images, and ends quietly when the reader ends", async () => {
    const changes = Array.from({ length: 300 }, (_, number) => ({ name: `${number}.jpg` }));
    const { cwd } = await stored(changes);
    expect(new Set((await listed(cwd)).map(({ name }) => name)).size).toBe(300);
    const { child, exit, output } = outrigger(["images", "list"], { cwd });
    child.stdout?.destroy();
    expect(await exit).toBe(0);
    expect(output.stderr).toBe("");
  });
});
