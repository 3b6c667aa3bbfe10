import { expect, test } from "vitest";
import { scoreSites } from "./score.ts";
import { generatedSites } from "./sites.ts";

const sites = [...generatedSites(4711, 20)];

test("generated sites are the same for the same seed, others for another, and every truth is about one of their pages", () => {
  expect([...generatedSites(4711, 3)]).toEqual(sites.slice(0, 3));
  expect([...generatedSites(4712, 1)]).not.toEqual(sites.slice(0, 1));
  for (const { domain, pages, truths, baits } of sites) {
    const own = truths.map(({ address }) => address);
    expect(new Set(own).size).toBe(own.length);
    for (const { page, address } of truths) {
      expect(pages.map(({ url }) => url)).toContain(page);
      expect(address.endsWith(domain)).toBe(true);
      expect(baits.has(address)).toBe(false);
    }
  }
});

test("the scorer counts a missed, a false and a misread address", () => {
  const nothing = scoreSites(sites, () => ({ isIndexable: true, contacts: [] }));
  expect(nothing.readable).toMatchObject({ right: 0 });
  const [site] = sites.slice(0, 1);
  const truth = site?.truths.find(({ firstName, position, phone }) => firstName && position && phone);
  if (site === undefined || truth === undefined) throw new Error("A site without such a person");
  const { page, address, firstName, lastName, position, phone } = truth;
  const right = { firstName, lastName, position, phoneNumber: phone?.written ?? null };
  const score = (contacts: (typeof right & { address: string })[]) =>
    scoreSites([site], ({ url }) => ({ isIndexable: true, contacts: url === page ? contacts : [] }));
  const good = score([{ ...right, address }]);
  for (const key of ["precision", "names", "positions", "phones"] as const)
    expect(good[key]).toMatchObject({ right: 1, all: 1 });
  const bad = score([
    { ...right, address, firstName: lastName, position: "-", phoneNumber: "1" },
    { ...right, address: `unknown@${site.domain}` },
  ]);
  expect(bad.precision).toMatchObject({ right: 1, all: 2 });
  for (const key of ["names", "positions", "phones"] as const)
    expect(bad[key]).toMatchObject({ right: 0, all: 1 });
});
