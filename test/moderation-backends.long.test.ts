import { createHash } from "node:crypto";
import { createImages, type Images, type ImagesOptions } from "@outrigger/core";
import { acceptAll, cleanedTo, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, createCall, PNG } from "../packages/core/test/calls.ts";
import { type Answer, answerOf } from "../packages/core/test/image-site.ts";
import { createPlace, listKeys, PLACE_NAMES, type PlaceName } from "./backends/place.ts";
import { type Servers, startServers } from "./backends/servers.ts";
import { afterEachTest } from "./support/hooks.ts";
import { partOf } from "./support/soak.ts";

const DAY = 86_400_000;
const CLEAN = Buffer.concat([PNG, Buffer.from("clean")]);
const OTHER = Buffer.concat([PNG, Buffer.from("other")]);
const COURT = { reason: "By order of the court.", copies: true };
const HELD: Partial<ImagesOptions> = { inspect: () => "hold" };
/** What a storage keeps without images: its identity, its clock, and since when it has notes about renditions. */
const OF_THE_STORAGE = /^(?:identity(?:\/\w+)?$|due-clock\/|rendition-notes\/since$|rendition-usage\/)/;

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

const PLACES = partOf(PLACE_NAMES, ["a directory", "S3 with records in PostgreSQL"]);

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(PLACES);
});
afterAll(() => servers.close());

const open = new Set<Images>();
afterEachTest(async () => {
  for (const images of open) await images.close();
  open.clear();
});

interface Node {
  images: Images;
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** Nodes on one storage with one clock. The errors of all are in one list. */
function deploymentOn(name: PlaceName) {
  const place = createPlace(servers, name);
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  const errors: unknown[] = [];
  const start = (answer: FakeRenderer["answer"] = acceptAll, options: Partial<ImagesOptions> = {}): Node => {
    const images = createImages({
      storage: place.open(),
      renderer: createFakeRenderer(answer),
      secret: "0123456789abcdef0123456789abcdef",
      rateLimits: false,
      asyncAfterMs: false,
      sweepEveryMs: false,
      reports: true,
      tombstoneDays: 1,
      now: () => clock.now++,
      onError: (error) => errors.push(error),
      ...options,
    });
    open.add(images);
    return {
      images,
      send: async (method, path, given) => answerOf(await images.handle(createCall(method, path, given))),
    };
  };
  const stop = async (...nodes: Node[]) => {
    for (const { images } of nodes) {
      open.delete(images);
      await images.close();
    }
  };
  return { place, clock, errors, start, stop };
}

/** Stores bytes that are cleaned to {@link CLEAN}. */
const cleaning: FakeRenderer["answer"] = (admitting) =>
  void cleanedTo(admitting, CLEAN).then(admitting.accept);

async function uploadTo({ send }: Node, file = PNG): Promise<string> {
  const { status, json } = await send("POST", "/api/images.json", { file });
  expect([201, 202]).toContain(status);
  return String(json.id);
}

/** The status of an upload, and its detail. */
async function refusalOf({ send }: Node, file: Buffer): Promise<unknown[]> {
  const { status, json } = await send("POST", "/api/images.json", { file });
  return [status, json.detail];
}

async function statusAt(nodes: readonly Node[], id: string): Promise<number[]> {
  const answers = await Promise.all(nodes.map(({ send }) => send("GET", `/api/images/${id}.png`)));
  return answers.map(({ status }) => status);
}

async function allOf<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}

describe.each(PLACES)("two nodes on %s", (name) => {
  test("an upload held at one node is accepted or refused at the other, and both show the decision, also after a restart", async () => {
    const { errors, start, stop } = deploymentOn(name);
    const nodes = [start(acceptAll, HELD), start()] as const;
    const [one, other] = nodes;
    const [good, bad] = [await uploadTo(one), await uploadTo(one, OTHER)];
    expect(await statusAt(nodes, good)).toEqual([202, 202]);
    await other.images.accept(good, { by: "anna" });
    expect(await statusAt(nodes, good)).toEqual([200, 200]);
    await expect(one.images.refuse(good, "Too late.")).rejects.toMatchObject({ code: "conflict" });
    await other.images.refuse(bad, "This is a map.", { by: "ben" });
    await stop(...nodes);
    const again = [start(), start()] as const;
    expect(await statusAt(again, good)).toEqual([200, 200]);
    expect(await statusAt(again, bad)).toEqual([404, 404]);
    expect((await again[0].send("GET", `/api/images/${bad}.json`)).json.detail).toBe("This is a map.");
    expect(errors).toEqual([]);
  });

  test("a takedown at one node withholds copies of both, before and after cleaning, and both refuse the bytes, also after a restart", async () => {
    const { errors, start, stop } = deploymentOn(name);
    let nodes = [start(), start(cleaning)] as const;
    const [one, other] = nodes;
    const ids = [
      await uploadTo(one),
      await uploadTo(other),
      // Stored as the bytes to which the other node cleans.
      await uploadTo(one, CLEAN),
      await uploadTo(other, OTHER),
    ];
    const unlike = await uploadTo(one, OTHER);
    const [, target = ""] = ids;
    await one.images.withhold(target, { ...COURT, by: "anna" });
    for (let round = 0; round < 2; round++) {
      for (const id of ids) expect(await statusAt(nodes, id)).toEqual([451, 451]);
      expect(await statusAt(nodes, unlike)).toEqual([200, 200]);
      for (const node of nodes) {
        for (const file of [PNG, CLEAN]) expect(await refusalOf(node, file)).toEqual([451, COURT.reason]);
      }
      await stop(...nodes);
      nodes = [start(), start(cleaning)];
    }
    await nodes[0].images.deny({ sha256: hashOf(OTHER), reason: "Known abuse." });
    for (const node of nodes) expect(await refusalOf(node, OTHER)).toEqual([403, "Known abuse."]);
    await nodes[1].images.release(target, { by: "ben" });
    expect(await statusAt(nodes, target)).toEqual([200, 200]);
    await nodes[1].images.allow({ sha256: hashOf(PNG) });
    expect(await statusAt(nodes, await uploadTo(nodes[0]))).toEqual([200, 200]);
    expect(errors).toEqual([]);
  });

  test("reports at both nodes are one case, which keep, withhold or a deletion decides, also after a restart", async () => {
    const { errors, start, stop } = deploymentOn(name);
    const nodes = [start(), start()] as const;
    const [one, other] = nodes;
    const [kept, barred, removed] = [await uploadTo(one), await uploadTo(other), await uploadTo(one)];
    const references = new Map<string, Set<unknown>>();
    for (const id of [kept, barred, removed]) {
      // The reports that follow the first one: two nodes may give it two references.
      const answers = [await report(one, id)];
      answers.push(...(await Promise.all([0, 1, 2, 3].flatMap(() => nodes.map((node) => report(node, id))))));
      expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(201));
      references.set(id, new Set(answers.map(({ json }) => json.reference)));
    }
    expect([...references.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
    await stop(...nodes);
    const again = [start(), start()] as const;
    for (const { images } of again) {
      const cases = await allOf(images.reports.list({ state: "open" }));
      expect(new Map(cases.map(({ id, reference }) => [id, new Set([reference])]))).toEqual(references);
      expect(cases.map(({ count }) => count)).toEqual([9, 9, 9]);
    }
    await again[1].images.reports.decide(kept, { decision: "kept", note: "Old.", by: "anna" });
    await again[0].images.withhold(barred, { reason: "A claim.", by: "ben" });
    await again[1].images.remove(removed, { by: "ben" });
    for (const { images } of again) {
      expect(await allOf(images.reports.list({ state: "open" }))).toEqual([]);
      const cases = await allOf(images.reports.list({ state: "decided" }));
      expect(cases.map(({ id, decision }) => [id, decision?.decision, decision?.by])).toEqual([
        [kept, "kept", "anna"],
        [barred, "withheld", "ben"],
        [removed, "removed", "ben"],
      ]);
    }
    expect(errors).toEqual([]);
  });

  test("nothing of moderated images stays: reports for a year, denials until they are allowed", async () => {
    const { place, clock, errors, start, stop } = deploymentOn(name);
    const nodes = [start(acceptAll, HELD), start(cleaning)] as const;
    const [one, other] = nodes;
    const [refused, accepted] = [await uploadTo(one), await uploadTo(one, OTHER)];
    await other.images.refuse(refused, "No.");
    await other.images.accept(accepted);
    const ids = [accepted, await uploadTo(other), await uploadTo(other, OTHER)];
    for (const id of ids) await report(one, id);
    await one.images.withhold(ids[1] ?? "", COURT);
    await one.images.reports.decide(accepted, { decision: "kept" });
    for (const id of ids) await other.images.remove(id);
    await stop(...nodes);
    const own = place.open();
    const keys = async () => (await listKeys(own, "")).filter((key) => !OF_THE_STORAGE.test(key));
    const kinds = async () => [...new Set((await keys()).map((key) => key.split("/")[0]))];
    /** Time passes; then a node sweeps that has not swept before. */
    const later = async (days: number) => {
      clock.now += days * DAY;
      const node = start();
      await node.images.sweep();
      await node.images.sweep();
      await stop(node);
    };
    await later(2);
    expect(await kinds()).toEqual(expect.arrayContaining(["denied", "reports"]));
    expect((await keys()).filter((key) => /^(?:copies|marks|[\w-]{22}\/)/.test(key))).toEqual([]);
    await later(366);
    expect(await kinds()).toEqual(["denied"]);
    const node = start();
    for (const { sha256 } of await allOf(node.images.denials())) await node.images.allow({ sha256 });
    await stop(node);
    expect(await keys()).toEqual([]);
    expect(errors).toEqual([]);
    await ("records" in own ? Promise.all(Object.values(own).map((store) => store.close())) : own.close());
  });
});

function report({ send }: Node, id: string): Promise<Answer> {
  return send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
}
