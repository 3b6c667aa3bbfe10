import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createUploadTurns,
  LONG_TURN_MS,
  MAX_READING,
  MAX_UNANSWERED,
  TURN_MS,
  type UploadTurns,
  type UploadVisit,
} from "./upload-turns.ts";

const MAX_WAIT_MS = 15_000;
const A_FAST_MILLISECOND = 20_000;

describe("createUploadTurns", () => {
  let turns: UploadTurns;
  /** The clients whose uploads have begun to be read, in order. */
  let begun: string[];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
    turns = createUploadTurns();
    begun = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  interface Upload extends UploadVisit {
    outcome: Promise<unknown>;
    leave(): void;
  }

  /** An upload that requests a turn. */
  function upload(client: string, maxWaitMs = MAX_WAIT_MS): Upload {
    const turn = turns.turnOf(client, maxWaitMs);
    const controller = new AbortController();
    const outcome = turn.wait(controller.signal).then(
      () => void begun.push(client),
      (error: unknown) => error,
    );
    return { ...turn, outcome, leave: () => controller.abort("left") };
  }

  function uploads(client: string, count: number): Upload[] {
    return Array.from({ length: count }, () => upload(client));
  }

  /** Runs all callbacks that are due now. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 5; round++) await vi.advanceTimersByTimeAsync(0);
  }

  /** Advances the time while these uploads receive bytes every 10 ms. */
  async function send(reading: readonly Upload[], ms: number, bytesPerMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      await vi.advanceTimersByTimeAsync(10);
      for (const each of reading) each.mayRead(bytesPerMs * 10);
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

  it("gives a free place to the client with the fewest turns", async () => {
    const greedy = uploads("greedy", 20);
    uploads("other", 2);
    upload("third");
    await settle();
    for (let place = 0; place < 3; place++) greedy[place]?.end();
    await settle();
    expect(begun.slice(MAX_READING)).toEqual(["other", "third", "greedy"]);
  });

  it("ends a turn of a client that has more than its share at its next bytes", async () => {
    const greedy = uploads("greedy", MAX_READING);
    await settle();
    uploads("other", 5);
    for (const each of greedy) each.mayRead(1);
    await settle();
    for (const each of greedy) each.mayRead(1);
    await settle();
    expect(begun).toEqual([...Array.from(greedy, () => "greedy"), "other", "other"]);
  });

  it("ends the turn of a silent upload, and gives it another turn for its next bytes", async () => {
    const [silent, ...others] = uploads("a", MAX_READING);
    const waiting = upload("a");
    await settle();
    await send(others, TURN_MS, A_FAST_MILLISECOND);
    await send(others, 10, A_FAST_MILLISECOND);
    expect(begun).toHaveLength(MAX_READING + 1);
    expect(silent?.mayRead(1)).toBe(false);
    const again = silent?.wait(new AbortController().signal);
    waiting.end();
    await settle();
    await again;
    expect(silent?.mayRead(1)).toBe(true);
  });

  it("ends a slow sender's turn after 100 ms if others wait", async () => {
    const [slow, ...fast] = uploads("a", MAX_READING);
    upload("a");
    await settle();
    for (let round = 0; round < 10; round++) {
      expect(begun).toHaveLength(MAX_READING);
      await send(fast, 10, A_FAST_MILLISECOND);
      slow?.mayRead(1000);
    }
    await send(fast, 10, A_FAST_MILLISECOND);
    expect(slow?.mayRead(1000)).toBe(false);
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
  });

  it("ends a fast sender's turn after a second if others wait", async () => {
    const fast = uploads("a", MAX_READING);
    upload("a");
    await settle();
    await send(fast, LONG_TURN_MS, A_FAST_MILLISECOND);
    expect(begun).toHaveLength(MAX_READING);
    await send(fast, 50, A_FAST_MILLISECOND);
    expect(begun).toHaveLength(MAX_READING + 1);
  });

  it("starts no upload of a client with sixteen unanswered uploads until one is answered", async () => {
    const all = uploads("a", MAX_UNANSWERED + 2);
    for (const each of all) {
      await settle();
      each.end();
    }
    await settle();
    expect(begun).toHaveLength(MAX_UNANSWERED);
    upload("b");
    await settle();
    expect(begun.at(-1)).toBe("b");
    all[0]?.done();
    all[0]?.done();
    await settle();
    expect(begun.slice(MAX_UNANSWERED)).toEqual(["b", "a"]);
  });

  it("ends no turn while no other upload waits, even of a slow sender", async () => {
    const slow = upload("a");
    await settle();
    await send([slow], 10 * LONG_TURN_MS, 1);
    expect(slow.mayRead(1)).toBe(true);
  });

  it("rejects an upload as overloaded if a single wait takes too long", async () => {
    const reading = uploads("a", MAX_READING);
    const late = upload("a", 500);
    await send(reading, 500, A_FAST_MILLISECOND);
    expect(await late.outcome).toMatchObject({ code: "overloaded", retryAfterMs: 5000 });
    upload("a");
    reading[0]?.end();
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
  });

  it("rejects an upload as overloaded if its waits add up to two minutes", async () => {
    const all = uploads("a", 3 * MAX_READING);
    const refused: unknown[] = [];
    const waiting = new Set<Upload>();
    const again = (each: Upload) => {
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

  it("removes a waiting upload whose client disconnects", async () => {
    const reading = uploads("a", MAX_READING);
    const left = upload("a");
    upload("a");
    left.leave();
    expect(await left.outcome).toBe("left");
    reading[0]?.end();
    await settle();
    expect(begun).toHaveLength(MAX_READING + 1);
  });
});
