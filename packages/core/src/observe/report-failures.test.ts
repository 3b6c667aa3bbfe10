import { setTimeout as delay } from "node:timers/promises";
import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test, vi } from "vitest";
import type { Renderer } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { safeLogger } from "../http/failure-listener.ts";
import { createImages } from "../images/images.ts";
import { createMemoryBlobStore } from "../stores/memory/memory-blob-store.ts";
import { watchRenderer } from "./observe-backends.ts";

const source = { bytes: Buffer.of() };
const full = new ServiceError("overloaded", "Too many images are waiting.", { retryAfterMs: 1 });
const broken = new ServiceError("overloaded", "No process starts.", { cause: new Error("no sharp") });

function watched(renderer: Renderer, onError: (error: unknown) => void): Renderer {
  return watchRenderer(renderer, { log: safeLogger(undefined, onError), onError, observer: undefined })
    .renderer;
}

/** A renderer whose calls have these outcomes in turn; `null`: it works. */
function failing(outcomes: (Error | null)[]) {
  const reported: unknown[] = [];
  const settle = async () => {
    const error = outcomes.shift();
    if (error) throw error;
    return { bytes: Buffer.of() };
  };
  const inner = { ...createFakeRenderer(), render: settle, start: async () => void (await settle()) };
  const renderer = watched(inner, (error) => reported.push(error));
  const render = () => renderer.render(source, "image/png", { format: "webp" });
  return { renderer, render, reported };
}

test("a renderer that cannot start is reported once, and each call still rejects", async () => {
  const { renderer, render, reported } = failing([broken, broken, broken]);
  await expect(renderer.start?.()).rejects.toBe(broken);
  await expect(render()).rejects.toBe(broken);
  await expect(render()).rejects.toBe(broken);
  expect(reported).toEqual([broken]);
});

test("a renderer that failed, worked and failed again is reported twice", async () => {
  const { render, reported } = failing([broken, null, broken]);
  await expect(render()).rejects.toBe(broken);
  await render();
  await expect(render()).rejects.toBe(broken);
  expect(reported).toEqual([broken, broken]);
});

test("a full queue is not reported", async () => {
  const { render, reported } = failing([full]);
  await expect(render()).rejects.toBe(full);
  expect(reported).toEqual([]);
});

test("a service starts its renderer when it is created, and reports a start that fails", async () => {
  const onError = vi.fn();
  const start = vi.fn(() => Promise.reject(broken));
  const images = createImages({
    storage: createMemoryBlobStore(),
    secret: "a secret of thirty-two bytes or more",
    renderer: { ...createFakeRenderer(), start },
    onError,
  });
  await expect.poll(() => onError.mock.calls).toEqual([[broken, undefined]]);
  await images.close();
  expect(start).toHaveBeenCalledTimes(1);
});

describe("where the renderer is not installed", () => {
  const missing = new ServiceError("not_implemented", "No working renderer.", {
    cause: new Error("no sharp"),
  });
  const failingImages = (onError: (error: unknown) => void, afterMs: number) =>
    createImages({
      storage: createMemoryBlobStore(),
      secret: "a secret of thirty-two bytes or more",
      renderer: { ...createFakeRenderer(), admit: () => delay(afterMs).then(() => Promise.reject(missing)) },
      asyncAfterMs: 20,
      onError,
    });
  const gif = Buffer.from("GIF89a");

  test("each upload is refused with not_implemented, and onError has the cause once", async () => {
    const onError = vi.fn();
    const images = failingImages(onError, 0);
    await expect(images.add(gif)).rejects.toBe(missing);
    await expect(images.add(gif)).rejects.toBe(missing);
    expect(onError.mock.calls).toEqual([[missing, undefined]]);
    await images.close();
  });

  test("an upload that was accepted keeps being processed, for a process with a renderer", async () => {
    const onError = vi.fn();
    const images = failingImages(onError, 60);
    const { id, status } = await images.add(gif, { wait: false });
    expect(status).toBe("processing");
    await expect.poll(() => onError.mock.calls).toEqual([[missing, undefined]]);
    expect(await images.find(id)).toMatchObject({ status: "processing" });
    await images.close();
  });
});
