import { chmodSync, copyFileSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer, type RendererOptions } from "@outrigger/imaging";
import { afterAll, expect, test } from "vitest";
import { workersOf } from "../test/child-processes.ts";
import { resolveRendererOptions } from "./renderer-options.ts";

const directory = mkdtempSync(join(tmpdir(), "renderer-options-"));
afterAll(() => rmSync(directory, { recursive: true }));

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
  ["maxOutputPixels", Number.NaN],
  ["maxOutputPixels", Number.POSITIVE_INFINITY],
  ["maxOutputPixels", "10"],
  ["timeoutMs", 99],
  ["maxMemoryBytes", 1_000_000],
  ["workers", 0],
  ["maxQueue", -1],
])("resolveRendererOptions throws a TypeError for %s: %s", (name, value) => {
  // Deliberately a value that the types forbid.
  const options = { [name]: value } as RendererOptions;
  expect(() => createRenderer(options)).toThrow(TypeError);
  expect(() => createRenderer(options)).toThrow(`createRenderer: ${name} must be a whole number from`);
});

test("maxTotalMemoryBytes is maxMemoryBytes and a quarter for each further worker", () => {
  const resolved = resolveRendererOptions({ maxMemoryBytes: 400 * 1024 ** 2, workers: 3 });
  expect(resolved.maxTotalMemoryBytes).toBe(600 * 1024 ** 2);
});

test.each([
  ["another program", "echo 20.19.0"],
  ["an older Node", `echo '{"version":"20.18.3"}'`],
  ["Bun or Deno", `echo '{"version":"0"}'`],
])("createRenderer refuses %s as node, names its path and the cure", (what, script) => {
  const node = join(directory, what);
  writeFileSync(node, `#!/bin/sh\n${script}\n`);
  chmodSync(node, 0o755);
  expect(() => createRenderer({ node })).toThrow(
    `createRenderer: ${node} does not run as Node 20.19 or newer. Install Node 20.19 or newer, or set node: "/path/to/node"`,
  );
});

test("createRenderer throws a TypeError for a node that does not exist", () => {
  const node = join(directory, "missing");
  expect(() => createRenderer({ node })).toThrow(TypeError);
  expect(() => createRenderer({ node })).toThrow(`node must be the path of Node's executable`);
});

test.runIf(process.platform === "linux")("the render processes run the Node of the option", async () => {
  const node = join(directory, "node");
  copyFileSync(process.execPath, node);
  const renderer = createRenderer({ node, workers: 1 });
  try {
    const others = workersOf(process.pid);
    const source = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') };
    await renderer.render(source, "image/svg+xml", { format: "png" });
    const own = workersOf(process.pid).filter((pid) => !others.includes(pid));
    expect(own.map((pid) => readlinkSync(`/proc/${pid}/exe`))).toEqual([node]);
  } finally {
    await renderer.close();
  }
});
