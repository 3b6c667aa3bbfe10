import { createHash } from "node:crypto";
import { cleanedTo, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { amount } from "../../../../../test/support/soak.ts";
import { PNG } from "../../../test/calls.ts";
import { type Fault, faultyStore } from "../../../test/dying-store.ts";
import { createSite, type ImageSite, type SiteOptions, storedRecord } from "../../../test/image-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { Images } from "../images.ts";
import type { ImageEvent } from "../record/image-record.ts";

const CLEAN = Buffer.from("a clean picture");
const OTHER = Buffer.concat([PNG, Buffer.from("other")]);
const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
/** The bytes of both uploads are those of one original. */
const cleaning: FakeRenderer["answer"] = (admitting) =>
  void cleanedTo(admitting, CLEAN).then(admitting.accept);

const COURT = { reason: "By order of the court.", copies: true, by: "anna" };
const FAULTS: readonly Fault[] = ["dies", "dies after", "fails once", "fails after"];

/** Every call in a soak. */
const STEP = amount(3, 1);

/** What the processes of one storage told: the events that a subscriber got, and the lines of the log. */
interface Told {
  events: ImageEvent[];
  log: { id?: string; sha256?: string; act?: string; by?: string; text: string }[];
}

function processOn(store: BlobStore, clock: ImageSite["clock"], told: Told, options: SiteOptions): ImageSite {
  const info = (fields: object, text: string) => void told.log.push({ ...fields, text });
  const logger = { info, warn: () => {}, error: () => {} };
  const renderer = createFakeRenderer(cleaning);
  const site = createSite({
    ...{ store, clock, renderer, logger, reports: true, asyncAfterMs: false, sweepEveryMs: false },
    ...options,
  });
  site.images.events.subscribe((event) => void told.events.push(event));
  return site;
}

interface Storage {
  store: BlobStore;
  clock: ImageSite["clock"];
  told: Told;
  /** Three images of the same original, each with a report. The second was another upload. */
  ids: [string, string, string];
}

async function filled(
  options: SiteOptions,
  prepare: (images: Images, id: string) => Promise<unknown>,
): Promise<Storage> {
  const store = createMemoryBlobStore();
  const told: Told = { events: [], log: [] };
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const site = processOn(store, clock, told, options);
  const ids: string[] = [];
  for (const file of [PNG, OTHER, PNG]) {
    const { id } = await site.images.add(file, { owner: "ben" });
    ids.push(id);
    clock.now += 1000;
  }
  for (const id of ids) await site.send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
  await prepare(site.images, ids[0] ?? "");
  site.kill();
  clock.now += 3_600_000;
  Object.assign(told, { events: [], log: [] });
  return { store, clock, told, ids: ids as Storage["ids"] };
}

async function allOf<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}

interface Case {
  act(images: Images, ids: Storage["ids"]): Promise<unknown>;
  options?: SiteOptions;
  prepare?(images: Images, id: string): Promise<unknown>;
  /** The images that it changes. */
  changed: readonly number[];
  state: string;
  /** What the log says of the bytes. @default nothing */
  bytes?: string;
  decision: string | null;
  event: string | null;
  text: string;
}

const HELD: SiteOptions = { inspect: () => "hold" };
const CASES: Record<string, Case> = {
  "withhold with copies": {
    act: (images, [id]) => images.withhold(id, COURT),
    changed: [0, 1, 2],
    state: "withheld",
    bytes: "bytes denied",
    decision: "withheld",
    event: "image.withheld",
    text: "image withheld",
  },
  withhold: {
    act: (images, [id]) => images.withhold(id, { reason: "A claim.", by: "anna" }),
    changed: [0],
    state: "withheld",
    decision: "withheld",
    event: "image.withheld",
    text: "image withheld",
  },
  "release with copies": {
    act: (images, [id]) => images.release(id, { copies: true, by: "anna" }),
    prepare: (images, id) => images.withhold(id, COURT),
    changed: [0, 1, 2],
    state: "ready",
    bytes: "bytes allowed",
    decision: "withheld",
    event: null,
    text: "image released",
  },
  remove: {
    act: (images, [id]) => images.changeMany([id], (each, { remove }) => remove(each, { by: "anna" })),
    changed: [0],
    state: "deleted",
    decision: "removed",
    event: "image.removed",
    text: "image removed",
  },
  "remove by the library": {
    act: (images, [id]) => images.remove(id, { by: "anna" }),
    changed: [0],
    state: "deleted",
    decision: "removed",
    event: "image.removed",
    text: "image removed",
  },
  removeAll: {
    act: (images) => images.removeAll({ owner: "ben" }),
    changed: [0, 1, 2],
    state: "deleted",
    decision: "removed",
    event: "image.removed",
    text: "image removed",
  },
  accept: {
    act: (images, [id]) => images.accept(id, { by: "anna" }),
    options: HELD,
    changed: [0],
    state: "ready",
    decision: null,
    event: "image.accepted",
    text: "image stored",
  },
  refuse: {
    act: (images, [id]) => images.refuse(id, "Not here.", { by: "anna" }),
    options: HELD,
    changed: [0],
    state: "failed",
    decision: "removed",
    event: "image.removed",
    text: "image refused",
  },
  keep: {
    act: (images, [id]) => images.reports.decide(id, { decision: "kept", by: "anna" }),
    changed: [0],
    state: "ready",
    decision: "kept",
    event: null,
    text: "image kept",
  },
};

/** Runs an act in a process that meets the fault, then again in another. @returns whether the first met it */
async function actUnder(fault: Fault, point: number, given: Case): Promise<boolean> {
  const { act, options = {}, prepare = async () => {}, changed } = given;
  const { store, clock, told, ids } = await filled(options, prepare);
  const faulty = faultyStore(store, point, fault);
  const first = processOn(faulty.store, clock, told, options);
  const failure = await Promise.race([act(first.images, ids).catch((error) => error), faulty.hit]);
  if (failure instanceof Error && !isServiceError(failure)) throw failure;
  const isHit = faulty.isHit();
  await faulty.settled();
  first.kill();
  clock.now += 5000;
  const second = processOn(store, clock, told, options);
  second.kill();
  const { images } = second;
  await act(images, ids).catch((error) => {
    // The first call has done it.
    if (!isServiceError(error, "gone") && !isServiceError(error, "conflict")) throw error;
  });

  const at = `${fault} at call ${point}`;
  const ofBytes = told.log.filter((line) => line.text.startsWith("bytes "));
  const lines = new Set(ofBytes.map(({ text, sha256, by }) => `${text} ${sha256} by ${by}`));
  const expected = given.bytes === undefined ? [] : [PNG, CLEAN];
  expect(lines, at).toEqual(new Set(expected.map((each) => `${given.bytes} ${hashOf(each)} by anna`)));
  const reports = await allOf(images.reports.list());
  for (const n of changed) {
    const id = ids[n] ?? "";
    const [listed] = (await images.newest({ ids: [id] })).images;
    expect(listed?.state, at).toBe(given.state);
    const report = reports.find((each) => each.id === id);
    expect(report?.decision?.decision ?? null, at).toBe(given.decision);
    const record = await storedRecord(store, id);
    const actId = record?.act?.id ?? report?.reference;
    const logged = told.log.filter((line) => line.id === id && line.text === given.text);
    const by = record?.act?.name === "removeAll" ? undefined : "anna";
    expect(
      logged.map((line) => [line.act, line.by]),
      at,
    ).toContainEqual([actId, by]);
    if (given.event === null) continue;
    const events = [...told.events.filter((each) => each.image.id === id), ...(record?.outbox?.events ?? [])];
    expect(
      events.filter(({ type }) => type === given.event).map((each) => each.act),
      at,
    ).toContain(actId);
  }
  return isHit;
}

test.each(Object.keys(CASES).flatMap((name) => FAULTS.map((fault) => [name, fault] as const)))(
  "%s, repeated after its first run %s at any store call, has decided reports, log lines and events",
  async (name, fault) => {
    const given = CASES[name];
    if (given === undefined) throw new Error(name);
    let point = FAULTS.indexOf(fault) % STEP;
    while (await actUnder(fault, point, given)) point += STEP;
    expect(point).toBeGreaterThan(3);
  },
);
