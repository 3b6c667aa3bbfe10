import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type GatedUpload, MAX_READING, MAX_UNANSWERED, SLICE_MS, UploadGate } from "./upload-slots.ts";

const MAX_WAIT_MS = 15_000;
const A_FAST_MILLISECOND = 20_000;

describe("UploadGate", () => {
  let gate: UploadGate;
  /** The clients whose uploads have begun to be read, in order. */
  let begun: string[];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
    gate = new UploadGate();
    begun = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An upload that waits for a slot to be read. */
  function upload(client: string, maxWaitMs = MAX_WAIT_MS) {
    const upload = gate.open(client, maxWaitMs);
    const controller = new AbortController();
    const outcome = upload.wait(controller.signal).then(
      () => void begun.push(client),
      (error: unknown) => error,
    );
    return { upload, outcome, leave: () => controller.abort("left") };
  }

  function uploads(client: string, count: number): GatedUpload[] {
    return Array.from({ length: count }, () => upload(client).upload);
  }

  /** Runs all callbacks that are due within 5 ms. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 5; round++) await vi.advanceTimersByTimeAsync(1);
  }

  /** Advances the time while these uploads receive bytes every 10 ms, those without a slot wait for one. */
  async function send(sending: readonly GatedUpload[], ms: number, bytesPerMs: number): Promise<void> {
    const waiting = new Set<GatedUpload>();
    for (let passed = 0; passed < ms; passed += 10) {
      await vi.advanceTimersByTimeAsync(10);
      for (const each of sending) {
        if (waiting.has(each) || each.mayRead(bytesPerMs * 10)) continue;
        waiting.add(each);
        each.wait(new AbortController().signal).then(
          () => waiting.delete(each),
          () => undefined,
        );
      }
    }
  }

  it("reads four uploads at once, and starts the next when one has ended", async () => {
    const reading = uploads("a", MAX_READING + 2);
    await settle();
    expect(begun).toHaveLength(MAX_READING);
    reading[0]?.end();
    reading[0]?.end();
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
  });

  it("takes slots from a client that has more than its share, before its next bytes", async () => {
    const greedy = uploads("greedy", MAX_READING);
    await settle();
    uploads("other", 5);
    await settle();
    expect(begun).toEqual([...Array.from(greedy, () => "greedy"), "other", "other"]);
    expect(greedy.map((each) => each.mayRead(1))).toEqual([true, true, false, false]);
  });

  it("ends the slice of a silent upload, and reads its next bytes in another slice", async () => {
    const [silent] = uploads("a", MAX_READING);
    const waiting = upload("a").upload;
    await settle();
    expect(begun).toHaveLength(MAX_READING);
    await vi.advanceTimersByTimeAsync(SLICE_MS);
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
    expect(silent?.mayRead(1)).toBe(false);
    const again = silent?.wait(new AbortController().signal);
    waiting.end();
    await settle();
    await again;
    expect(silent?.mayRead(1)).toBe(true);
  });

  it("reads each upload of a client in slices, while others of it wait", async () => {
    const sending = uploads("a", 3 * MAX_READING);
    await settle();
    await send(sending, 2 * SLICE_MS + 50, A_FAST_MILLISECOND);
    expect(begun).toHaveLength(3 * MAX_READING);
  });

  it("reads the client first whose slices had fewer bytes", async () => {
    const light = uploads("light", 1);
    const heavy = uploads("heavy", 3);
    await settle();
    for (const each of heavy) each.mayRead(1000 * A_FAST_MILLISECOND);
    uploads("light", 1);
    uploads("heavy", 1);
    for (const each of [...light, ...heavy]) each.end();
    begun = [];
    await settle();
    expect(begun).toEqual(["light", "heavy"]);
  });

  it("charges a silent upload for the time that it was read", async () => {
    uploads("silent", 4);
    await vi.advanceTimersByTimeAsync(SLICE_MS);
    for (const client of ["silent", "modest", "a", "b", "c"]) upload(client);
    begun = [];
    await settle();
    expect(begun).not.toContain("silent");
  });

  it("starts no upload of a client with sixteen unanswered uploads until one is answered", async () => {
    const all = uploads("a", MAX_UNANSWERED + 2);
    for (let round = 0; round < MAX_UNANSWERED; round++) {
      await settle();
      for (const each of all) each.end();
    }
    expect(begun).toHaveLength(MAX_UNANSWERED);
    upload("b");
    await settle();
    expect(begun.at(-1)).toBe("b");
    all[0]?.done();
    all[0]?.done();
    await settle();
    expect(begun.slice(MAX_UNANSWERED)).toEqual(["b", "a"]);
  });

  it("lets an upload without others continue in its next slice, even of a slow sender", async () => {
    const slow = upload("a").upload;
    await settle();
    await send([slow], 10 * SLICE_MS, 1);
    await settle();
    expect(slow.mayRead(1)).toBe(true);
  });

  it("rejects an upload as overloaded if a single wait takes too long", async () => {
    const reading = uploads("a", MAX_READING);
    await settle();
    const late = upload("a", 50);
    await vi.advanceTimersByTimeAsync(60);
    expect(await late.outcome).toMatchObject({ code: "overloaded", retryAfterMs: 5000 });
    upload("a");
    reading[0]?.end();
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
  });

  it("rejects an upload as overloaded if its waits add up to two minutes", async () => {
    const all = uploads("a", 4 * MAX_READING);
    const refused: unknown[] = [];
    const waiting = new Set<GatedUpload>();
    const again = (each: GatedUpload) => {
      waiting.add(each);
      const signal = new AbortController().signal;
      each.wait(signal).then(
        () => waiting.delete(each),
        (error) => refused.push(error),
      );
    };
    for (let seconds = 0; seconds < 400; seconds += 0.05) {
      await vi.advanceTimersByTimeAsync(50);
      for (const each of all) {
        if (!waiting.has(each) && !each.mayRead(50 * A_FAST_MILLISECOND)) again(each);
      }
      if (refused.length > 0) break;
    }
    expect(refused[0]).toMatchObject({ code: "overloaded" });
  });
});
