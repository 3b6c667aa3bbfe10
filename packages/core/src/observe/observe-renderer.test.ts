import { expect, test } from "vitest";
import { createFakeRenderer } from "../../test/fake-renderer.ts";
import { createRecordingObserver } from "../../test/recording-observer.ts";
import { hasQueueProbe } from "../contracts/queue-probe.ts";
import { observeRenderer } from "./observe-renderer.ts";

const source = { bytes: Buffer.from("picture") };
const options = { cleanedPath: "nowhere" };

test("hands everything on, and tells types and formats", async () => {
  const observer = createRecordingObserver();
  const inner = createFakeRenderer();
  const renderer = observeRenderer(inner, observer);
  expect(renderer.build).toBe("fake.1");
  expect(renderer.canRender("image/png", "pdf")).toBe(false);
  const { signal } = new AbortController();
  const admission = renderer.admit(source, "image/png", options, { signal });
  const admitting = await inner.next();
  expect(admitting).toMatchObject({ source, type: "image/png", options, signal });
  admitting.accept();
  expect(await admission).toMatchObject({ width: 40 });
  const spec = { format: "pdf", maxWidth: 9 } as const;
  await expect(renderer.render(source, "image/gif", spec)).rejects.toMatchObject({ code: "not_implemented" });
  expect(observer.ended).toEqual([
    { operation: { kind: "admit", type: "image/png" }, outcome: "ok" },
    { operation: { kind: "render", type: "image/gif", format: "pdf" }, outcome: "threw" },
  ]);
  await renderer.close();
});

test("shows the queue of a renderer that tells it, until it is closed", async () => {
  const observer = createRecordingObserver();
  let isClosed = false;
  const renderer = observeRenderer(
    {
      ...createFakeRenderer(),
      queue: () => ({ waiting: 3, running: 2 }),
      async close() {
        isClosed = true;
      },
    },
    observer,
  );
  expect(hasQueueProbe(renderer)).toBe(true);
  expect(observer.gauges.get("renders_waiting")?.()).toBe(3);
  expect(observer.gauges.get("renders_running")?.()).toBe(2);
  await renderer.close();
  expect([isClosed, observer.gauges.size]).toEqual([true, 0]);
});

test("shows no queue of a renderer that tells none", () => {
  const observer = createRecordingObserver();
  const renderer = observeRenderer(createFakeRenderer(), observer);
  expect([hasQueueProbe(renderer), observer.gauges.size]).toEqual([false, 0]);
});
