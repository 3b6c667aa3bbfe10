import { createRenderer, type RendererOptions } from "@outrigger/imaging";
import { expect, test } from "vitest";
import { resolveRendererOptions } from "./renderer-options.ts";

test("resolveRendererOptions fills in the documented defaults", () => {
  expect(resolveRendererOptions({})).toMatchObject({
    maxPixels: 50_000_000,
    maxFrames: 500,
    maxSide: 8192,
    maxOutputPixels: 25_000_000,
    timeoutMs: 10_000,
    maxMemoryBytes: 536_870_912,
    maxQueue: 64,
  });
  expect(resolveRendererOptions({}).workers).toBeGreaterThanOrEqual(2);
});

test.each([
  ["maxPixels", 0],
  ["maxFrames", 1.5],
  ["maxSide", 16_384],
  ["maxOutputPixels", Number.NaN],
  ["maxOutputPixels", Number.POSITIVE_INFINITY],
  ["maxOutputPixels", "10"],
  ["timeoutMs", 99],
  ["maxMemoryBytes", 1_000_000],
  ["maxTotalMemoryBytes", 1_000_000],
  ["workers", 0],
  ["maxQueue", -1],
])("resolveRendererOptions throws a TypeError for %s: %s", (name, value) => {
  // Deliberately a value that the types forbid.
  const options = { [name]: value } as RendererOptions;
  expect(() => createRenderer(options)).toThrow(TypeError);
  expect(() => createRenderer(options)).toThrow(`createRenderer: ${name} must be a whole number from`);
});

test("the default maxTotalMemoryBytes is maxMemoryBytes and a quarter for each further worker", () => {
  const resolved = resolveRendererOptions({ maxMemoryBytes: 400 * 1024 ** 2, workers: 3 });
  expect(resolved.maxTotalMemoryBytes).toBe(600 * 1024 ** 2);
  const given = { maxTotalMemoryBytes: 900 * 1024 ** 2, workers: 3 };
  expect(resolveRendererOptions(given).maxTotalMemoryBytes).toBe(900 * 1024 ** 2);
});
