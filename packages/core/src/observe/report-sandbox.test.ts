import { createFakeRenderer } from "@outrigger/testing";
import { expect, test, vi } from "vitest";
import { createRecordingObserver } from "../../test/recording-observer.ts";
import type { GaugeName } from "../contracts/observer.ts";
import type { Sandbox } from "../contracts/renderer.ts";
import { watchRenderer } from "./observe-backends.ts";

const NO_PROGRAM = { level: "bubblewrap", reason: "bwrap: not found" } as const;

/** Reports the sandbox of a renderer that knows its level after the first picture. */
async function report(found: Sandbox, uid = 1000) {
  vi.spyOn(process, "getuid").mockReturnValue(uid);
  const lines: unknown[] = [];
  const texts: string[] = [];
  const line = (level: string) => (fields: object, text: string) => {
    lines.push([level, fields]);
    texts.push(text);
  };
  const gauges = new Map<GaugeName, () => number>();
  const inner = createFakeRenderer();
  let sandbox: Sandbox | null = null;
  Object.defineProperty(inner, "sandbox", { get: () => sandbox });
  const { renderer, hide } = watchRenderer(inner, {
    log: { info: line("info"), warn: line("warn"), error: line("error") },
    onError: () => undefined,
    observer: {
      observe: (_, work) => work(),
      served: () => undefined,
      gauge(name, read) {
        gauges.set(name, read);
        return () => gauges.delete(name);
      },
    },
  });
  expect([...gauges.values()].map((read) => read())).toEqual([0, 0]);
  sandbox = found;
  for (let picture = 0; picture < 2; picture++) {
    await renderer.render({ bytes: Buffer.of() }, "image/png", { format: "pdf" }).catch(() => undefined);
  }
  const set = [...gauges].filter(([, read]) => read() === 1).map(([name]) => name);
  hide();
  expect(gauges.size).toBe(0);
  vi.restoreAllMocks();
  return { lines, texts, set, level: renderer.sandbox };
}

test("the level is logged once, after the first picture, and its gauge is 1", async () => {
  const found: Sandbox = { level: "bubblewrap", failures: [] };
  expect(await report(found)).toMatchObject({
    lines: [["info", { sandbox: "bubblewrap" }]],
    set: ["sandbox_bubblewrap"],
    level: found,
  });
});

test("level none is a warning with the reason when bubblewrap failed", async () => {
  const { lines, texts, set } = await report({ level: "none", failures: [NO_PROGRAM] });
  expect(texts[0]).toContain("apt-get install bubblewrap");
  expect(lines).toEqual([["warn", { sandbox: "none", failures: [NO_PROGRAM] }]]);
  expect(set).toEqual(["sandbox_none"]);
});

test("level none is no warning when the host chose it", async () => {
  expect((await report({ level: "none", failures: [] })).lines).toEqual([["info", { sandbox: "none" }]]);
});

test("a process of root is a warning at every level", async () => {
  const { lines } = await report({ level: "bubblewrap", failures: [] }, 0);
  expect(lines).toEqual([
    ["info", { sandbox: "bubblewrap" }],
    ["warn", { sandbox: "bubblewrap" }],
  ]);
});

test("a renderer that reports no level has no gauge, and nothing is logged", async () => {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const observer = { ...createRecordingObserver(), gauge: vi.fn() };
  const { renderer } = watchRenderer(createFakeRenderer(), { log, onError: vi.fn(), observer });
  await renderer.render({ bytes: Buffer.of() }, "image/png", { format: "pdf" }).catch(() => undefined);
  expect(renderer).not.toHaveProperty("sandbox");
  for (const never of [observer.gauge, log.info, log.warn]) expect(never).not.toHaveBeenCalled();
});
