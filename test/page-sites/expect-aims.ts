import { expect } from "vitest";
import { indexReader } from "./read-with-index.ts";
import { scoreLines } from "./report.ts";
import { scoreSites } from "./score.ts";
import type { Site, Truth } from "./site.ts";

/** Shares of all that a site shows, or that the extractor found. */
const AIMS = { precision: 0.98, readable: 0.98, names: 0.95, positions: 0.95, phones: 0.94 };

/** Asserts that the extractor reaches its aims on some sites. */
export function expectAims(sites: readonly Site[]) {
  const score = scoreSites(sites, indexReader());
  const report = scoreLines(score, 2).join("\n");
  for (const key of ["precision", "readable", "names", "positions", "phones"] as const) {
    expect(score[key].all, `${key}: nothing to count`).toBeGreaterThan(50);
    expect(score[key].value, `${key}\n${report}`).toBeGreaterThanOrEqual(AIMS[key]);
  }
  expect(score.mistakes.filter(({ what }) => what === "noindex")).toEqual([]);
}

/** Asserts that no address of a person or role has the name, the position or the phone of another one alone. Prose is not judged. */
export function expectOwn(sites: readonly Site[]) {
  const read = indexReader();
  const foreign: string[] = [];
  for (const site of sites)
    for (const page of site.pages) {
      const truths = new Map(
        site.truths.filter((each) => each.page === page.url).map((each) => [each.address, each]),
      );
      for (const contact of read(page, site).contacts) {
        const own = truths.get(contact.address);
        if (own?.layout === "extra") continue;
        const others = [...truths.values()].filter((each) => each !== own);
        const name = `${contact.firstName} ${contact.lastName}`;
        const isOthers = (of: (truth: Truth) => string | null | undefined, got: string | null) =>
          own !== undefined && got !== null && of(own) !== got && others.some((each) => of(each) === got);
        if (contact.lastName !== null && isOthers((each) => `${each.firstName} ${each.lastName}`, name))
          foreign.push(`${contact.address}: ${name}`);
        if (isOthers(({ position }) => position, contact.position))
          foreign.push(`${contact.address}: ${contact.position}`);
        if (isOthers(({ phone }) => phone?.written, contact.phoneNumber))
          foreign.push(`${contact.address}: ${contact.phoneNumber}`);
      }
    }
  expect(foreign).toEqual([]);
}
