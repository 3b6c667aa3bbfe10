import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, startSite } from "../support/service.ts";
import { busboyBodies } from "./busboy-bodies.ts";
import { type HostLog, keepHostLog } from "./host-log.ts";
import { END, type HostileUpload, part, requestOf } from "./hostile-upload.ts";
import { HOSTILE_UPLOADS } from "./hostile-uploads.ts";
import { inParallel } from "./in-parallel.ts";
import { mutate, split } from "./mutations.ts";
import { createRandom } from "./random.ts";
import { exchange } from "./raw-http.ts";
import { type Answer, answerOf, expectProblem, isNodeRefusal } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const IDLE_MS = 500;
const PATH = "/img/api/images.json";
const MUTATIONS_PER_HOST = 300;
const SENT = { width: 12, height: 8 };

async function send(site: Site, upload: HostileUpload, seed?: number): Promise<Answer | null> {
  const request = requestOf(upload, PATH);
  const pieces = seed === undefined ? [request] : split(request, createRandom(seed));
  return answerOf(await exchange(site.origin, pieces));
}

/**
 * A 201 is allowed if the stored file is a piece of the sent body, or a repaired picture of its size, under a harmless
 * name.
 */
async function expectHonest(site: Site, answer: Answer, body: Buffer, said: string): Promise<string> {
  const record = JSON.parse(answer.body) as Created;
  expect(record.name, said).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect([...String(record.name)].length, said).toBeLessThanOrEqual(255);
  const suffix = record.type === "image/png" ? "png" : "svg";
  const stored = await fetch(addressOf(site, record.id, suffix));
  expect(stored.status, said).toBe(200);
  const bytes = Buffer.from(await stored.arrayBuffer());
  const isPiece = suffix === "svg" ? withoutText(body).includes(withoutText(bytes)) : body.includes(bytes);
  expect(isPiece || (await isWholePhoto(bytes)), said).toBe(true);
  return record.id;
}

/** Whether bytes decode without a warning to a picture of the size that was sent. */
async function isWholePhoto(bytes: Buffer): Promise<boolean> {
  const picture = sharp(bytes, { failOn: "warning" }).raw().toBuffer({ resolveWithObject: true });
  const size = await picture.then(({ info }) => info).catch(() => null);
  return size?.width === SENT.width && size.height === SENT.height;
}

/** Cleaning removes the text between the elements of a drawing. */
function withoutText(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/>[^<]*</g, "><");
}

describe.each([
  { host: "Express 5", seed: 1001 },
  { host: "Koa 3", seed: 2002 },
] as const)("a multipart body through $host", ({ host, seed }) => {
  let site: Site;
  let watch: Watch;
  const stored: string[] = [];
  let hostLog: HostLog;

  beforeAll(async () => {
    hostLog = keepHostLog();
    site = await startSite({ host, uploadIdleMs: IDLE_MS });
    watch = await watchSite(site);
  });
  afterAll(async () => {
    await site.close();
    hostLog.restore();
  });

  test.each(HOSTILE_UPLOADS.map((upload) => [upload.title, upload.statuses.join(" or "), upload] as const))(
    "a multipart body with %s answers %s",
    async (_title, _statuses, upload) => {
      const answer = await send(site, upload);
      if (upload.byNode && isNodeRefusal(answer)) {
        expect(upload.statuses).toContain(answer?.status);
      } else if (answer?.status === 201 && upload.statuses.includes(201)) {
        stored.push(await expectHonest(site, answer, Buffer.from(upload.body), upload.title));
        expect((JSON.parse(answer.body) as Created).name, "a file's name, not its path").not.toMatch(/[/\\]/);
      } else {
        expectProblem(answer, upload.statuses, upload.title);
      }
      expect(Object.prototype).not.toHaveProperty("polluted");
    },
  );

  test("a body cut off by closing the connection gets no 5xx and leaves no files", async () => {
    for (const upload of HOSTILE_UPLOADS.slice(0, 40)) {
      const request = requestOf({ ...upload, length: "Content-Length: 5000" }, PATH);
      const answer = await answerOf(await exchange(site.origin, request, { end: true }));
      expect(answer === null || (answer.status >= 400 && answer.status < 500), upload.title).toBe(true);
    }
  });

  test("every body from the parser package's own tests is refused, because none contains our file field", async () => {
    const bodies = busboyBodies();
    expect(bodies.length).toBeGreaterThan(20);
    for (const { title, body, boundary } of bodies) {
      const contentType = `multipart/form-data; boundary=${boundary}`;
      expectProblem(await send(site, { title, body, contentType, statuses: [] }), [400], title);
      // The same bodies with their files in our field, of an unsupported type.
      const renamed = Buffer.from(
        body.toString("latin1").replaceAll(/name="(?:upload_)?file_?\d?"/g, 'name="imagedata"'),
        "latin1",
      );
      expectProblem(await send(site, { title, body: renamed, contentType, statuses: [] }), [400, 415], title);
    }
  });

  test(`a body changed at random (${MUTATIONS_PER_HOST} times from seed ${seed}) is accepted correctly or refused with a reason`, async () => {
    const png = await pngPhoto(SENT.width, SENT.height);
    const valid = Buffer.from(
      part("name", "caf\xc3\xa9") +
        part("expiresAt", new Date(Date.now() + 86_400_000).toISOString()) +
        part("imagedata", png.toString("latin1"), { fileName: "a.png", type: "image/png" }) +
        END,
      "latin1",
    );
    const seeds = Array.from({ length: MUTATIONS_PER_HOST }, (_, index) => seed + index);
    const statuses = await inParallel(seeds, 8, async (each) => {
      const body = mutate(valid, createRandom(each));
      const said = `seed ${each}: ${JSON.stringify(body.toString("latin1"))}`;
      const answer = await send(site, { title: said, body, statuses: [] }, each);
      if (answer?.status === 201) stored.push(await expectHonest(site, answer, body, said));
      else expectProblem(answer, [400, 413, 415], said);
      return answer?.status;
    });
    // Without all three statuses, the mutations would not have reached the parser.
    expect(new Set(statuses)).toEqual(new Set([201, 400, 415]));
  });

  test("these bodies leave no file, no descriptor and no unexpected error behind", async () => {
    await watch.expectUnharmed(stored);
    expect(site.errors).toEqual([]);
    expect(hostLog.unexpected()).toEqual([]);
  });
});
