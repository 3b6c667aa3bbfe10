import { describe, expect, test } from "vitest";
import { askMany, createDesk, DEAR_MS } from "../../../../test/render-desk.ts";

describe("the turns of clients", () => {
  test("let a newcomer go before the queued work of others", async () => {
    const place = createDesk(1);
    askMany(place, "a", 4);
    askMany(place, "b", 4);
    await place.end("a1");
    void place.ask("new", "new1");
    await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toEqual(["new1"]);
  });

  test("let a newcomer go before 50 clients that flood the queue", async () => {
    const place = createDesk(2, 200);
    for (let n = 0; n < 50; n++) askMany(place, `spray${n}-`, 3);
    for (let n = 0; n < 70; n++) await place.end(place.underWay[0] ?? "");
    void place.ask("new", "new1");
    await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toContain("new1");
  });

  test("alternate between two clients with equal work", async () => {
    const place = createDesk(1);
    askMany(place, "a", 3);
    askMany(place, "b", 3);
    expect(await place.endAll()).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
  });

  test("put a client that used much CPU time behind one that waited meanwhile", async () => {
    const place = createDesk(1);
    void place.ask("much", "dear", { predictedMs: DEAR_MS });
    for (let n = 1; n <= 4; n++) void place.ask("little", `little${n}`);
    void place.ask("much", "more");
    expect(await place.endAll()).toEqual(["dear", "little1", "little2", "little3", "little4", "more"]);
  });

  test("do not count CPU time that a client used while it was alone", async () => {
    const place = createDesk(1);
    for (let n = 1; n <= 20; n++) {
      void place.ask("early", `early${n}`);
      await place.end(`early${n}`);
    }
    for (let n = 1; n <= 4; n++) void place.ask(`spray${n}`, `spray${n}`);
    void place.ask("early", "next");
    for (let n = 1; n <= 4; n++) void place.ask(`spray${n}`, `again${n}`);
    await place.end("spray1");
    for (let n = 2; n <= 4; n++) await place.end(`spray${n}`);
    expect(place.underWay).toEqual(["next"]);
  });

  test("halve the excess use of an idle client every 30 s", async () => {
    const place = createDesk(1);
    void place.ask("much", "dear", { predictedMs: 80 });
    void place.ask("other", "other");
    await place.end("dear");
    await place.end("other");
    place.clock.now += 60_000;
    void place.ask("other", "first");
    void place.ask("much", "forgiven");
    void place.ask("other", "second");
    void place.ask("other", "third");
    // Its use is 15 ms above that of the other client, less than the other's running work.
    await place.end("first");
    expect(place.underWay).toEqual(["forgiven"]);
  });

  test("put a client's cheap work before its dear work", async () => {
    const place = createDesk(1);
    void place.ask("b", "running");
    void place.ask("a", "dear", { predictedMs: DEAR_MS });
    void place.ask("a", "cheap");
    await place.end("running");
    expect(place.underWay).toEqual(["cheap"]);
  });
});

describe("cheap and dear work", () => {
  test("dear work leaves one of two workers free", async () => {
    const place = createDesk(2);
    for (const client of ["a", "b", "c"]) void place.ask(client, client, { predictedMs: DEAR_MS });
    expect(place.underWay).toEqual(["a"]);
    void place.ask("d", "cheap");
    expect(place.underWay).toEqual(["a", "cheap"]);
    await place.end("cheap");
    expect(place.underWay).toEqual(["a"]);
    await place.end("a");
    expect(place.underWay).toEqual(["b"]);
  });

  test("with one worker, cheap work of every client goes before dear work", async () => {
    const place = createDesk(1);
    void place.ask("a", "running", { predictedMs: DEAR_MS });
    void place.ask("b", "dear", { predictedMs: DEAR_MS });
    void place.ask("a", "cheap");
    await place.end("running");
    expect(place.underWay).toEqual(["cheap"]);
  });

  test("work queued for 10 s gets every fourth start before all other work", async () => {
    const place = createDesk(1);
    void place.ask("a", "running");
    void place.ask("b", "dear", { predictedMs: DEAR_MS });
    for (let n = 1; n <= 12; n++) void place.ask(`new${n}`, `cheap${n}`);
    place.clock.now += 10_001;
    for (let n = 0; n < 3; n++) await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toEqual(["dear"]);
  });

  test("dear work queued for 10 s gets the next worker that may take dear work", async () => {
    const place = createDesk(2);
    void place.ask("a", "running", { predictedMs: DEAR_MS });
    void place.ask("a", "patient", { predictedMs: DEAR_MS });
    place.clock.now += 10_001;
    for (let n = 1; n <= 8; n++) {
      void place.ask(`b${n}`, `cheap${n}`);
      await place.end(`cheap${n}`);
    }
    for (let n = 1; n <= 3; n++) void place.ask(`new${n}`, `dear${n}`, { predictedMs: DEAR_MS });
    await place.end("running");
    expect(place.underWay).toEqual(["patient"]);
  });
});

describe("renders and uploads", () => {
  test("renders and admissions alternate on one worker", async () => {
    const place = createDesk(1);
    void place.ask("x", "running");
    askMany(place, "r", 3);
    for (let n = 1; n <= 3; n++) void place.ask("u", `u${n}`, { kind: "admit" });
    expect(await place.endAll()).toEqual(["running", "u1", "r1", "u2", "r2", "u3", "r3"]);
  });

  test("with admissions running on all workers, a render goes before the next admission", async () => {
    const place = createDesk(3);
    void place.ask("a", "a1", { kind: "admit" });
    void place.ask("b", "b1", { kind: "admit" });
    void place.ask("c", "c1", { kind: "admit" });
    void place.ask("d", "d1", { kind: "admit" });
    void place.ask("e", "render");
    await place.end("a1");
    expect(place.underWay).toEqual(["b1", "c1", "render"]);
  });

  test("background work starts if no client waits, and at every fourth start after 10 s", async () => {
    const place = createDesk(1);
    void place.ask("x", "running");
    void place.ask("jobs", "behind", { kind: "background" });
    for (let n = 1; n <= 6; n++) void place.ask(`p${n}`, `p${n}`);
    for (const name of ["running", "p1"]) await place.end(name);
    expect(place.underWay).toEqual(["p2"]);
    place.clock.now += 10_001;
    for (const name of ["p2", "p3"]) await place.end(name);
    expect(place.underWay).toEqual(["behind"]);
  });
});
