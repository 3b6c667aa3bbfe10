import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { createRecordingObserver } from "../../test/recording-observer.ts";
import { watchRenderer } from "./observe-backends.ts";

const source = { bytes: Buffer.from("picture") };
const options = { cleanedPath: "nowhere" };

test("watchRenderer passes every call on, and reports types and formats", async () => {
  const observer = createRecordingObserver();
  const inner = createFakeRenderer();
  const { renderer } = watchRenderer(inner, { log: console, onError: console.error, observer });
  expect(renderer.build).toBe("fake.1");
  expect(renderer.canRender?.("image/png", "pdf")).toBe(false);
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
