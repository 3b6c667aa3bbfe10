import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, ImpactValue, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The accessibility faults of a page, one line each: the rule and its elements. `only`: faults of these impacts. */
export async function axeFaults(
  page: Page,
  options: RunOptions = {},
  only?: readonly ImpactValue[],
): Promise<string[]> {
  // The pages' policy blocks foreign scripts; the check is injected through the browser itself, which bypasses the policy.
  await page.evaluate(AXE);
  const results: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
  return results.violations
    .filter(({ impact }) => only === undefined || only.includes(impact ?? null))
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}
