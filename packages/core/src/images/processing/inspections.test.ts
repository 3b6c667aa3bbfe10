import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { eventually } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { signal } from "../../../test/tapped-store.ts";
import type { Inspect } from "../record/inspect-rules.ts";
import { createInspectionGate } from "./admit-upload.ts";

test("an upload that is abandoned between its admission and its inspection leaves no file, is not inspected, and reports nothing", async () => {
  let inspected = 0;
  const paths: string[] = [];
  const errors: unknown[] = [];
  for (let turns = 0; turns < 8; turns++) {
    const inspect: Inspect = () => {
      inspected++;
      return new Promise(() => {});
    };
    const site = createLifeSite({ renderer: createFakeRenderer(), asyncAfterMs: 0, inspect });
    await site.create();
    const admitting = await site.renderer.next();
    admitting.accept();
    for (let n = 0; n < turns; n++) await null;
    await site.images.close();
    paths.push(admitting.options.cleanedPath);
    errors.push(...site.errors);
  }
  // Each look takes a turn of the thread pool, as does each step of a copy under way.
  for (let n = 0; n < 20; n++) await stat(tmpdir());
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
  expect([inspected, errors]).toEqual([0, []]);
});

test("an upload that is abandoned while its inspection fails reports nothing", async () => {
  const leaving = new AbortController();
  const begun = signal();
  const gate = signal();
  const inspect: Inspect = async () => {
    begun.give();
    await gate.promise;
    throw new Error("The file is gone");
  };
  const site = createLifeSite({ inspect });
  const adding = site.images.add(PNG, { signal: leaving.signal });
  await begun.promise;
  leaving.abort(new Error("gone away"));
  await expect(adding).rejects.toThrow("gone away");
  gate.give();
  await gate.promise;
  await new Promise(setImmediate);
  expect(site.errors).toEqual([]);
});

test("at most 16 uploads are inspected at once", async () => {
  const gate = signal();
  let asked = 0;
  const inspect = async () => {
    asked++;
    await gate.promise;
    return "accept" as const;
  };
  const site = createLifeSite({ inspect });
  const uploads = Array.from({ length: 20 }, async () => (await site.create()).status);
  await eventually(() => expect([site.renderer.calls, asked]).toEqual([20, 16]));
  for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  expect(asked).toBe(16);
  gate.give();
  expect(await Promise.all(uploads)).toEqual(Array(20).fill(201));
});

test("the time limit of an upload that waits for its inspection starts with it", async () => {
  let asked = 0;
  const inspect: Inspect = () => (++asked > 16 ? "accept" : new Promise<never>(() => {}));
  const site = createLifeSite({ inspect, inspectTimeoutMs: 100 });
  const uploads = Array.from({ length: 20 }, async () => (await site.create()).status);
  expect((await Promise.all(uploads)).sort()).toEqual([...Array(4).fill(201), ...Array(16).fill(202)]);
  expect(site.errors).toHaveLength(16);
});

test("an upload beyond 1000 that wait for their inspection is refused as overload, and one that leaves makes room", async () => {
  const gate = createInspectionGate();
  const leaving = new AbortController();
  const entering = Array.from({ length: 1017 }, (_, n) =>
    gate.enter("a", {
      signal: n === 1000 ? leaving.signal : new AbortController().signal,
      maxWaitMs: 10_000,
    }),
  );
  const settled = Promise.allSettled(entering);
  await expect(entering.at(-1)).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 5000 });
  expect(gate.state).toEqual({ held: 16, waiting: 1000 });
  leaving.abort(new Error("gone away"));
  await expect(entering[1000]).rejects.toThrow("gone away");
  expect(gate.state.waiting).toBe(999);
  for (const slot of entering)
    void slot.then(
      ({ leave }) => leave(),
      () => undefined,
    );
  expect((await settled).filter(({ status }) => status === "fulfilled")).toHaveLength(1015);
});
