import { createImages, type Images } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import type { VerifyFinding } from "@outrigger/ops";
import { describe, expect, it } from "vitest";
import { outrigger } from "../packages/server/test/outrigger-process.ts";
import {
  backedUp,
  cut,
  damage,
  directoryPlace,
  nonsense,
  PLACES,
  type Place,
  spoil,
  usePlaces,
  withStore,
} from "./support/damaged-place.ts";
import { startHost } from "./support/hosts.ts";
import { pngPhoto } from "./support/pictures.ts";
import { type Created, upload } from "./support/service.ts";

// Each runs the command many times.
usePlaces();

const IMAGES = 6;
const OWNER = "alice";

async function ran({ cwd, env }: Place, ...args: string[]) {
  const { exit, output } = outrigger(args, { cwd, env });
  return { code: await exit, ...output };
}

async function verified(place: Place, ...args: string[]) {
  const { code, stdout, stderr } = await ran(place, "images", "verify", "--json", ...args);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const all = lines.map((line): unknown => JSON.parse(line));
  const report = all.pop() as { images: number; defects: number; repaired: number }; // The last line.
  const findings = all as VerifyFinding[]; // All before it.
  const problems = Object.fromEntries(
    findings.map(({ key, what, repair }) => [key, repair === null ? what : `${what} ${repair}`]),
  );
  return { code, report, problems, stderr };
}

/** A service that is started on what is there by now. */
async function served<T>(place: Place, work: (base: string, images: Images) => Promise<T>): Promise<T> {
  const images = createImages({
    storage: place.openStorage(),
    renderer: createRenderer(),
    secret: "0123456789abcdef0123456789abcdef",
    authorize: (_call, action) => (action === "create" ? { owner: OWNER } : undefined),
    asyncAfterMs: false,
    sweepEveryMs: false,
    rateLimits: false,
    onError: () => undefined,
  });
  const host = await startHost("node:http", images);
  try {
    return await work(host.base, images);
  } finally {
    await host.close();
    await images.close();
  }
}

async function stocked(place: Place): Promise<Created[]> {
  return served(place, async (base) => {
    const created: Created[] = [];
    for (let index = 0; index < IMAGES; index++) {
      created.push(await upload({ base }, await pngPhoto(40 + index, 30), "image/png"));
    }
    return created;
  });
}

/** Status and bytes of every image. */
function answersOf(place: Place, images: readonly Created[]): Promise<[number, string][]> {
  return served(place, (base) =>
    Promise.all(
      images.map(async ({ id }): Promise<[number, string]> => {
        const response = await fetch(`${base}/api/images/${id}.png`);
        const bytes = Buffer.from(await response.arrayBuffer());
        return [response.status, response.ok ? bytes.toString("base64") : ""];
      }),
    ),
  );
}

describe.each(Object.entries(PLACES))("outrigger images verify on %s", (_name, createPlace) => {
  it("verify finds every damaged file, restores it from a backup, and ends images that it cannot restore", async () => {
    const place = await createPlace();
    const images = await stocked(place);
    const before = await answersOf(place, images);
    expect(before.map(([status]) => status)).toEqual(images.map(() => 200));
    expect(await verified(place)).toMatchObject({
      code: 0,
      report: { images: IMAGES, defects: 0 },
      problems: {},
    });
    const backup = await backedUp(place);

    const expected = await damage(place, images);
    const statuses = (await answersOf(place, images)).map(([status]) => status);
    expect(statuses).toEqual([500, 500, 200, 500, 500, 200]);
    expect(await verified(place)).toMatchObject({
      code: 1,
      problems: expected,
      report: { defects: 7, repaired: 0 },
    });
    const repaired = await verified(place, "--repair", "--yes", "--from", backup);
    const outcome = { "orphaned-bytes": "removed", "damaged-usage": "counted" };
    const restored = Object.entries(expected).map(([key, what]) => [
      key,
      `${what} ${Object.entries(outcome).find(([each]) => each === what)?.[1] ?? "restored"}`,
    ]);
    expect(repaired).toMatchObject({ code: 0, problems: Object.fromEntries(restored) });
    expect(await answersOf(place, images)).toEqual(before);
    expect(await served(place, (_base, service) => service.usage(OWNER))).toMatchObject({ images: IMAGES });

    await damage(place, images);
    // A removal gives room back, and counts a damaged usage anew before it is looked at.
    const stopped = await verified(place, "--repair", "--yes");
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/Nothing was removed: that would be 6 of 7 images .* pass --max-removals 6/),
    ]);
    const { code, report, stderr } = await verified(place, "--repair", "--yes", "--max-removals", "6");
    expect(stderr).toContain("Removing 6 of 7 images and orphaned originals");
    expect([code, report.defects - report.repaired]).toEqual([0, 0]);
    const ended = (await answersOf(place, images)).map(([status]) => status);
    expect(ended).toEqual([410, 410, 410, 410, 410, 200]);
    expect(await served(place, (_base, service) => service.usage(OWNER))).toMatchObject({ images: 1 });
    expect(await verified(place)).toMatchObject({ code: 0, problems: {} });
  });
});

describe("outrigger images", () => {
  it("every images command names a damaged record and continues", async () => {
    const place = await directoryPlace();
    const images = await stocked(place);
    const [a = "", b = ""] = images.map(({ id }) => id);
    await withStore(place, async (store) => {
      await spoil(store, `${a}/record`, cut);
      await spoil(store, `${b}/record`, nonsense);
    });
    const named = expect.stringMatching(new RegExp(`${a}(?:.|\n)*${b}|${b}(?:.|\n)*${a}`));
    const stats = await ran(place, "images", "stats", "--json");
    expect(stats).toMatchObject({ code: 0, stderr: named });
    expect(JSON.parse(stats.stdout)).toMatchObject({
      images: IMAGES,
      states: { damaged: 2, ready: IMAGES - 2 },
    });
    const listed = await ran(place, "images", "list", "--state", "damaged", "--json");
    expect(listed).toMatchObject({ code: 0, stdout: named });
    const copied = await ran(place, "migrate", "--from", "file:./data", "--to", "file:./copy");
    expect(copied).toMatchObject({ code: 1, stderr: named });
    expect(copied.stderr).toContain("2 damaged at the source");
    expect(await ran(place, "images", "withhold", a, "--reason", "Case 4711")).toMatchObject({ code: 0 });
    expect(await ran(place, "images", "rm", "--yes", b)).toMatchObject({ code: 0, stdout: `${b} deleted\n` });
    const statuses = (await answersOf(place, images)).map(([status]) => status);
    expect(statuses).toEqual([451, 410, 200, 200, 200, 200]);
    expect(await ran(place, "images", "release", a)).toMatchObject({ code: 0 });
    const [first] = await answersOf(place, images);
    expect(first).toEqual([500, ""]);
  });

  it("verify exits with 130 on a signal and with 2 for conflicting options", async () => {
    const place = await directoryPlace();
    const [first] = await stocked(place);
    await withStore(place, (store) => spoil(store, `${first?.id}/record`, nonsense));
    const slow = outrigger(["images", "verify", "--rate", "0.001"], place);
    // The first finding: it is at work.
    await slow.url;
    slow.child.kill("SIGINT");
    expect(await slow.exit).toBe(130);
    expect(slow.output.stderr).toContain("outrigger: Stopped.");
    for (const [args, why] of [
      [["--repair"], "--yes: is required"],
      [["--from", "file:./data"], "--from: needs --repair"],
      [["--repair", "--yes", "--from", "file:./data"], "--from: must differ from the storage being repaired"],
      [["--rate", "fast"], "must be a number of MB/s"],
    ] as const) {
      const { code, stderr } = await ran(place, "images", "verify", ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
