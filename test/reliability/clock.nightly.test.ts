// Nightly: processes under clocks that jump; life/clock-guard.test.ts has the rules with a fake clock.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serve, temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { pngPhoto } from "../support/pictures.ts";
import { type HeldPicture, heldFrom, read, send } from "./disk/client.ts";
import { createFakeClock, type FakeClock } from "./disk/fake-clock.ts";
import { type HostOptions, type HostProcess, startHostProcess } from "./disk/host-process.ts";
import { withBytes } from "./disk/look-into-data.ts";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TEN_YEARS = 3652 * DAY;
const RESPOND_ASYNC = { Prefer: "respond-async" };
/** More than a lease, doubled for a busy machine. */
const BOUND_MS = 45_000;

let data = "";
let clock: FakeClock;
let hosts: HostProcess[] = [];
beforeEach(async () => {
  const directory = await temporaryDirectory();
  data = join(directory, "data");
  clock = await createFakeClock(directory);
});
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.kill()));
  hosts = [];
});

/** A service whose clock the test sets. */
async function start(options: HostOptions = {}): Promise<HostProcess> {
  const host = await startHostProcess(data, options, clock.env);
  hosts.push(host);
  return host;
}

async function upload(
  { base }: { base: string },
  { livesMs = 12 * HOUR, bytes = png("picture"), headers = {} as Record<string, string> } = {},
): Promise<HeldPicture> {
  const response = await send(base, bytes, { name: "picture", expiresAt: clock.now() + livesMs }, headers);
  expect([201, 202]).toContain(response.status);
  return heldFrom(response, bytes);
}

function png(text: string): Buffer {
  return Buffer.from(`\x89PNG\r\n\x1a\n${text}`, "latin1");
}

async function until(isSo: () => Promise<boolean>, boundMs = BOUND_MS): Promise<void> {
  const deadline = performance.now() + boundMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("The service did not get this far in time");
    await delay(50);
  }
}

const statusOf = async (base: string, picture: HeldPicture) => (await read(base, picture)).status;

/**
 * Lets a picture expire, then sets the clock forward and back, the last time before a restart.
 * @returns statuses other than 410.
 */
async function revivals(startService: () => Promise<Pick<HostProcess, "base" | "kill">>): Promise<number[]> {
  const first = await startService();
  const picture = await upload(first, { livesMs: 2 * SECOND, bytes: await pngPhoto(30, 20) });
  await until(async () => (await statusOf(first.base, picture)) === 410);
  const found: number[] = [];
  const look = async (base: string) => {
    for (const suffix of ["png", "json", "jpg"]) found.push((await read(base, picture, suffix)).status);
  };
  for (const ahead of [-DAY, HOUR, -HOUR, 0]) {
    await clock.set(ahead, first.base);
    await look(first.base);
  }
  await first.kill();
  await clock.set(-DAY);
  const { base, kill } = await startService();
  await look(base);
  await kill();
  return found.filter((status) => status !== 410);
}

describe("expired pictures under clock changes", () => {
  test("a picture that once answered 410 answers 410 under any clock setting and after a restart", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ images: { rateLimits: false } }));
    const startServer = async () => {
      const { child, exit, url } = serve(cwd, ["--data", data], clock.env);
      const kill = async () => {
        child.kill("SIGKILL");
        await exit;
      };
      return { base: await url, kill };
    };
    expect(await revivals(startServer)).toEqual([]);
  });

  test("the check finds a service that does not store the expiry, so that pictures come back", async () => {
    expect(await revivals(() => start({ leftOut: "changes of records" }))).toContain(200);
  });
});

test("no Cache-Control keeps a picture beyond its expiry", async () => {
  const { base } = await start();
  const picture = await upload({ base }, { livesMs: 200 * SECOND });
  const expiresAt = clock.now() + 200 * SECOND;
  const ages: number[] = [];
  for (const ahead of [0, 150 * SECOND, -DAY, 190 * SECOND]) {
    await clock.set(ahead, base);
    const { status, headers } = await read(base, picture);
    expect(status).toBe(200);
    const age = Number(/max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1]);
    expect(age).toBeLessThanOrEqual(Math.ceil((expiresAt - clock.now()) / 1000) + 1);
    expect(age).toBeGreaterThanOrEqual(0);
    ages.push(age);
  }
  // The values differ, so the service reads the clock for each reply.
  expect(new Set(ages).size).toBeGreaterThan(2);
});

test("a clock change neither extends a client's rate-limit window nor changes the headers that announce it", async () => {
  const windowMs = 2000;
  const { base } = await start({ creates: 3, windowMs });
  for (const ahead of [-DAY, TEN_YEARS, 0]) {
    const began = performance.now();
    const replies: Response[] = [];
    const post = async () => {
      const response = await send(base, png(""), { name: "x" });
      await response.arrayBuffer();
      replies.push(response);
      return response.status;
    };
    while ((await post()) === 201);
    await clock.set(ahead, base);
    await until(async () => (await post()) === 201);
    // One window plus one clock check, on a busy machine.
    expect(performance.now() - began).toBeLessThan(windowMs + 20_000);
    for (const { status, headers } of replies) {
      expect([201, 429]).toContain(status);
      const [, left, seconds] = /;r=(-?\d+);t=(-?\d+)$/.exec(headers.get("ratelimit") ?? "") ?? [];
      const wait = Number(headers.get("retry-after") ?? 1);
      expect(Number(left)).toBeGreaterThanOrEqual(0);
      expect(Number(left)).toBeLessThan(3);
      for (const told of [Number(seconds), wait]) {
        expect(told).toBeGreaterThanOrEqual(1);
        expect(told, `${ahead} ms ahead`).toBeLessThanOrEqual(windowMs / 1000);
      }
    }
  }
});

describe("accepted uploads under clock changes", () => {
  /** How often processing of a file began. */
  const admissions = (host: HostProcess) => host.printed().filter((line) => line.startsWith("admit ")).length;

  async function expectReady(base: string, pictures: readonly HeldPicture[]): Promise<void> {
    for (const picture of pictures) {
      await until(async () => (await statusOf(base, picture)) !== 202);
      const { status, body } = await read(base, picture);
      expect([status, body.toString("latin1")]).toEqual([200, picture.bytes.toString("latin1")]);
    }
  }

  async function acceptSeveral(host: HostProcess): Promise<HeldPicture[]> {
    const texts = Array.from({ length: 8 }, (_, number) => `number ${number}`);
    return Promise.all(texts.map((text) => upload(host, { bytes: png(text), headers: RESPOND_ASYNC })));
  }

  test("an accepted upload is processed once while the clock is set forward and back", async () => {
    const host = await start({ admitMs: 2000 });
    const pictures = await acceptSeveral(host);
    for (const ahead of [HOUR, -DAY, 0]) await clock.set(ahead, host.base);
    await expectReady(host.base, pictures);
    expect(admissions(host)).toBe(pictures.length);
  });

  test("an accepted upload is processed once the clock returns from years ahead", async () => {
    const host = await start({ admitMs: 2000 });
    const pictures = await acceptSeveral(host);
    await clock.set(TEN_YEARS, host.base);
    // The clock stays wrong for this time, and the work goes on.
    await delay(4000);
    await clock.set(0, host.base);
    await expectReady(host.base, pictures);
  });

  test("an upload of a process that died is processed by its successor, with the clock a day behind", async () => {
    const dying = await start({ admitMs: 1e6 });
    const pictures = await acceptSeveral(dying);
    await until(async () => admissions(dying) > 0);
    await dying.kill();
    await clock.set(-DAY);
    const next = await start();
    await expectReady(next.base, pictures);
  });
});

describe("the sweep under clock changes", () => {
  async function uploadSeveral(host: HostProcess): Promise<HeldPicture[]> {
    return Promise.all(["one", "two", "three"].map((text) => upload(host, { bytes: png(text) })));
  }

  test("the sweep removes no live image while the clock is ahead, and resumes when it returns", async () => {
    const host = await start({ sweepEveryMs: 1000 });
    const warnings = () => host.printed().filter((line) => line.includes("clock jumped ahead")).length;
    const pictures = await uploadSeveral(host);
    for (const ahead of [13 * HOUR, TEN_YEARS]) {
      const before = warnings();
      await clock.set(ahead, host.base);
      await until(async () => warnings() >= before + 3);
      expect(await withBytes(data, pictures)).toHaveLength(pictures.length);
    }
    await clock.set(0, host.base);
    const brief = await upload(host, { livesMs: SECOND });
    await until(async () => (await withBytes(data, [brief])).length === 0);
    for (const picture of pictures) expect((await read(host.base, picture)).body).toEqual(picture.bytes);
  });

  test("the check finds a sweep that trusts a wrong clock and removes live images", async () => {
    const host = await start({ sweepEveryMs: 1000, sweepsBlindly: true });
    const pictures = await uploadSeveral(host);
    await clock.set(TEN_YEARS, host.base);
    await until(async () => (await withBytes(data, pictures)).length === 0);
  });
});
