import { describe, expect, test } from "vitest";
import type { OriginalFacts, OriginalType } from "../../../contracts/renderer.ts";
import { CHEAP_MS } from "./queue-order.ts";
import { createRenderCosts, type RenderFacts } from "./render-costs.ts";

const SMALL = { width: 400, height: 300 };

function original(type: OriginalType, width = 4000, height = 3000): OriginalFacts {
  return { type, width, height, pages: 1, size: 1_000_000 };
}

function facts(changes: Partial<RenderFacts> = {}): RenderFacts {
  return {
    id: "one",
    original: original("image/jpeg"),
    format: "jpg",
    target: SMALL,
    fromIntermediate: false,
    ...changes,
  };
}

describe("an image without a measured render", () => {
  test("is cheap as a small JPEG of a photo, and dear if many pixels are decoded or encoded", () => {
    const costs = createRenderCosts();
    const of = (changes: Partial<RenderFacts>) => costs.ofRender(facts(changes)).predictedMs;
    expect(of({})).toBeLessThan(CHEAP_MS);
    expect(of({ original: original("image/png") })).toBeGreaterThan(CHEAP_MS);
    expect(of({ original: original("image/png"), fromIntermediate: true })).toBeLessThan(CHEAP_MS);
    expect(of({ format: "avif", target: { width: 2000, height: 1500 } })).toBeGreaterThan(CHEAP_MS);
  });

  test("costs in proportion to the frames of an animation", () => {
    const costs = createRenderCosts();
    const gif = original("image/gif", 500, 400);
    const still = costs.ofRender(facts({ original: gif, format: "gif" })).predictedMs;
    const animated = costs.ofRender(facts({ original: { ...gif, pages: 50 }, format: "gif" })).predictedMs;
    expect(animated).toBeGreaterThan(20 * still);
  });

  test.each(["image/svg+xml", "application/pdf"] as const)(
    "is dear as %s until its first measurement",
    (type) => {
      const costs = createRenderCosts();
      const svg = facts({ original: original(type, 300, 200), format: "png" });
      const cost = costs.ofRender(svg);
      expect(cost.predictedMs).toBeGreaterThanOrEqual(CHEAP_MS);
      cost.learn(12);
      expect(costs.ofRender(svg).predictedMs).toBeCloseTo(12);
      expect(costs.ofAdmission(type, 1_000).predictedMs).toBeGreaterThanOrEqual(CHEAP_MS);
    },
  );
});

describe("a measured render", () => {
  test("corrects predictions for other images of its type and format", () => {
    const costs = createRenderCosts();
    const before = costs.ofRender(facts({ id: "other" })).predictedMs;
    for (let n = 0; n < 50; n++) {
      const cost = costs.ofRender(facts({ id: `measured ${n}` }));
      cost.learn(cost.predictedMs * 3);
    }
    const after = costs.ofRender(facts({ id: "other" })).predictedMs;
    expect(after / before).toBeGreaterThan(2.5);
    expect(costs.ofRender(facts({ id: "other", format: "webp" })).predictedMs).toBeLessThan(CHEAP_MS);
  });

  test("of one hostile picture raises predictions for its type by at most half", () => {
    const costs = createRenderCosts();
    const before = costs.ofRender(facts({ id: "other" })).predictedMs;
    costs.ofRender(facts({ id: "hostile" })).learn(10_000);
    expect(costs.ofRender(facts({ id: "other" })).predictedMs / before).toBeLessThan(1.5);
  });

  test("of 5 s makes its picture dear at every size", () => {
    const costs = createRenderCosts();
    costs.ofRender(facts()).learn(5_000);
    for (const target of [{ width: 1, height: 1 }, SMALL, { width: 4000, height: 3000 }]) {
      expect(costs.ofRender(facts({ target })).predictedMs).toBeGreaterThanOrEqual(5_000);
    }
  });

  test("of a photo's largest size leaves its small sizes cheap", () => {
    const costs = createRenderCosts();
    costs.ofRender(facts({ format: "png", target: { width: 4000, height: 3000 } })).learn(800);
    expect(costs.ofRender(facts()).predictedMs).toBeLessThan(CHEAP_MS);
  });
});

test("the cost of an upload is predicted from its bytes and corrected by other uploads of its type", () => {
  const costs = createRenderCosts();
  expect(costs.ofAdmission("image/jpeg", 500_000).predictedMs).toBeLessThan(CHEAP_MS);
  expect(costs.ofAdmission("image/png", 10_000_000).predictedMs).toBeGreaterThan(CHEAP_MS);
  const before = costs.ofAdmission("image/gif", 500_000).predictedMs;
  for (let n = 0; n < 50; n++) costs.ofAdmission("image/gif", 500_000).learn(before / 2);
  expect(costs.ofAdmission("image/gif", 500_000).predictedMs).toBeLessThan(before * 0.6);
});
