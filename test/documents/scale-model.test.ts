import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

interface Input {
  value: unknown;
  unit: string;
  kind: string;
  source: string;
  date: string;
}

interface Inputs {
  used(): ReadonlySet<string>;
}

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");
/** A module of the benchmark, which is JavaScript without declarations. */
async function load<Module>(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ new URL(path, root).href)) as Module;
}

const { createInputs, readInputs } = await load<{
  createInputs(table: Record<string, Input>): Inputs;
  readInputs(): Promise<Record<string, Input>>;
}>("bench/scale/inputs.mjs");
const { describeModel } = await load<{ describeModel(inputs: Inputs): Record<string, string> }>(
  "bench/scale/model.mjs",
);
const { describeOperations } = await load<{ describeOperations(inputs: Inputs): string }>(
  "bench/scale/operations.mjs",
);
const table = await readInputs();

test("every input of the scale model has a value, a unit, a kind, a source and a date", () => {
  const sourceOf = new Map([
    ["measured", /^(?:node bench\/scale\.mjs|npm run bench)/],
    ["published", /https?:\/\/|\b(?:19|20)\d\d\b|API reference/],
    ["price", /https?:\/\//],
    ["chosen", /.{10}/],
  ]);
  const wrong = Object.entries(table).filter(
    ([, { value, unit, kind, source, date }]) =>
      value === undefined || !unit || !sourceOf.get(kind)?.test(source) || !/^\d{4}-\d\d-\d\d$/.test(date),
  );
  expect(wrong).toEqual([]);
});

test("the rows of the scale model contain no number that is not an input", async () => {
  for (const name of ["model", "events", "plan", "operations"]) {
    const code = codeOf(await read(`bench/scale/${name}.mjs`));
    const numbers = code.match(/(?<![\w.])\d[\d_.]*(?:e\d+)?/g) ?? [];
    // One, a pair of pages, a middle, and the powers of ten of units.
    const foreign = numbers.filter((number) => !["0", "1", "2", "1e6", "1e9"].includes(number));
    expect(foreign, `bench/scale/${name}.mjs`).toEqual([]);
  }
});

test("the tables of the scale model are those of its inputs, and every input is used", async () => {
  const inputs = createInputs(table);
  const [scale, storage] = [await read("docs/scale.md"), await read("docs/storage.md")];
  for (const [name, text] of Object.entries(describeModel(inputs))) expect(writtenIn(scale, name)).toBe(text);
  expect(writtenIn(storage, "operations")).toBe(describeOperations(inputs));
  expect(Object.keys(table).filter((name) => !inputs.used().has(name))).toEqual([]);
});

test("an unknown input is an error", () => {
  expect(() => describeModel(createInputs({}))).toThrow("inputs.json has no");
});

test("the model's LRU cache hits as often as a simulated one", async () => {
  const { zipfBins, lruCache, hitShare } = await load<{
    zipfBins(count: number, alpha: number, perSecond: number): object[];
    lruCache(bins: object[], capacity: number): { hit(rate: number): number };
    hitShare(bins: object[], hit: (rate: number) => number): number;
  }>("bench/scale/zipf.mjs");
  const [objects, alpha, capacity, reads] = [2000, 0.9, 100, 100_000];
  const sums: number[] = [];
  for (let rank = 1; rank <= objects; rank++) sums.push((sums.at(-1) ?? 0) + rank ** -alpha);
  const cache = new Map<number, true>();
  let [hits, seed] = [0, 1];
  for (let read = 0; read < reads; read++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const wanted = (seed / 2_147_483_647) * (sums.at(-1) ?? 0);
    const rank = sums.findIndex((sum) => sum >= wanted);
    if (cache.delete(rank)) hits++;
    cache.set(rank, true);
    for (const oldest of cache.keys()) if (cache.size > capacity) cache.delete(oldest);
  }
  const bins = zipfBins(objects, alpha, 1);
  expect(Math.abs(hitShare(bins, lruCache(bins, capacity).hit) - hits / reads)).toBeLessThan(0.01);
});

test("the model's queue waits as Erlang's C formula says", async () => {
  const { erlangC, waitSeconds } = await load<{
    erlangC(workers: number, load: number): number;
    waitSeconds(queue: Record<string, number>): number;
  }>("bench/scale/queue.mjs");
  expect(erlangC(1, 0.5)).toBeCloseTo(1 / 2);
  expect(erlangC(2, 1)).toBeCloseTo(1 / 3);
  const queue = { workers: 1, utilization: 0.5, serviceSeconds: 2, variation: 1, share: 0.01 };
  expect(waitSeconds(queue)).toBeCloseTo(4 * Math.log(50));
  expect(waitSeconds({ ...queue, variation: 0 })).toBeCloseTo(2 * Math.log(50));
});

/** Without comments and without the text of strings; of templates, only what they calculate. */
function codeOf(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"/g, "")
    .replace(/`[^`]*`/g, (template) => (template.match(/\$\{[^}]*\}/g) ?? []).join());
}

function writtenIn(page: string, part: string): string | undefined {
  const begin = `<!-- bench/scale.mjs (${part}) writes from here -->`;
  return page.split(begin)[1]?.split("<!-- to here -->")[0]?.trim();
}
