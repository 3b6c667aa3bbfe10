import assert from "node:assert/strict";
import {
  type AddressType,
  type ContactFilter,
  DEPARTMENTS,
  type Department,
  type RequiredField,
  SENIORITIES,
  type Seniority,
  titleKey,
  type VerificationStatus,
} from "@outrigger/core/lookup";
import {
  type ContactSourceTest,
  contactOf,
  inOrder,
  matches,
  randomDomain,
  readPages,
  variedContacts,
} from "./samples.ts";

const TYPES: (AddressType | undefined)[] = [undefined, "personal", "generic"];
const SENIORITY_LISTS: (Seniority[] | undefined)[] = [
  undefined,
  ...SENIORITIES.map((seniority) => [seniority]),
  ["senior", "junior"],
  [...SENIORITIES],
];
const DEPARTMENT_LISTS: (Department[] | undefined)[] = [
  undefined,
  ["it"],
  ["operations", "executive"],
  [...DEPARTMENTS],
];

const REQUIRED_LISTS: (RequiredField[] | undefined)[] = [
  undefined,
  ["full_name"],
  ["phone_number", "position"],
];
const STATUS_LISTS: (VerificationStatus[] | undefined)[] = [
  undefined,
  ["valid"],
  ["accept_all", "unknown", "invalid"],
];
const TITLE_LISTS: (string[] | undefined)[] = [
  undefined,
  [" cto "],
  [" manager ", " senior manager "],
  [" nothing "],
];

/** Order, paging and filters. */
export function searchBehaviour(check: ContactSourceTest, contactCount: number): void {
  check(
    "search orders by highest confidence, then by the bytes of the address",
    async ({ source, domain, load }) => {
      // In UTF-16 the last sorts before the one before it; in most languages the order differs further.
      const locals = ["-a", "0", "a", "a-b", "a.b", "a_b", "aa", "b", "z", "{", "é", "ꙅ", "\uff41", "𐐨"];
      const ties = locals.map((local) => contactOf(`${local}@${domain}`, { confidence: 50 }));
      const others = [0, 1, 49, 51, 100].map((confidence) =>
        contactOf(`m${confidence}@${domain}`, { confidence }),
      );
      const contacts = [...ties.toReversed(), ...others];
      await load({ contacts });
      const page = await source.search(domain, {}, { limit: 100, offset: 0 });
      assert.deepEqual(page, { contacts: inOrder(contacts), total: contacts.length });
    },
  );

  check(
    "search pages return every contact once, with the total on each page",
    async ({ source, domain, load }) => {
      const contacts = variedContacts(domain, contactCount);
      await load({ contacts: [...contacts, ...variedContacts(randomDomain(), 20)] });
      const expected = inOrder(contacts);
      for (const limit of [7, 64, 100]) {
        const read = await readPages(source, domain, {}, limit);
        assert.deepEqual(read.contacts, expected);
        assert.deepEqual(read.totals, new Set([contactCount]));
      }
      for (const offset of [0, 1, 63, 64, 65, 127, 128, contactCount - 1, contactCount - 3]) {
        const page = await source.search(domain, {}, { limit: 2, offset });
        assert.deepEqual(page, { contacts: expected.slice(offset, offset + 2), total: contactCount });
      }
    },
  );

  check("search beyond the end returns no contacts and the same total", async ({ source, domain, load }) => {
    const contacts = variedContacts(domain, 130);
    await load({ contacts });
    for (const offset of [130, 131, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(await source.search(domain, {}, { limit: 10, offset }), { contacts: [], total: 130 });
      const filter: ContactFilter = { type: "generic" };
      const { length: total } = contacts.filter((contact) => matches(contact, filter));
      assert.deepEqual(await source.search(domain, filter, { limit: 10, offset }), { contacts: [], total });
    }
  });

  check(
    "search with any combination of filters returns each matching contact once, in order",
    async ({ source, domain, load }) => {
      const contacts = variedContacts(domain, 300);
      await load({ contacts });
      const expected = inOrder(contacts);
      for (const type of TYPES) {
        for (const seniorities of SENIORITY_LISTS) {
          for (const departments of DEPARTMENT_LISTS) {
            const filter: ContactFilter = {
              ...(type && { type }),
              ...(seniorities && { seniorities }),
              ...(departments && { departments }),
            };
            const matching = expected.filter((contact) => matches(contact, filter));
            const read = await readPages(source, domain, filter, 33);
            assert.deepEqual(read.contacts, matching, JSON.stringify(filter));
            assert.deepEqual(read.totals, new Set([matching.length]), JSON.stringify(filter));
          }
        }
      }
    },
  );

  check(
    "search by required fields, verdict and job title returns each match once, in order",
    async ({ source, domain, load }) => {
      const contacts = variedContacts(domain, 300);
      await load({ contacts });
      const expected = inOrder(contacts);
      for (const requiredFields of REQUIRED_LISTS) {
        for (const verificationStatuses of STATUS_LISTS) {
          for (const jobTitles of TITLE_LISTS) {
            for (const others of [{}, { type: "generic", seniorities: ["senior", "junior"] }] as const) {
              const filter: ContactFilter = {
                ...others,
                ...(requiredFields && { requiredFields }),
                ...(verificationStatuses && { verificationStatuses }),
                ...(jobTitles && { jobTitles }),
              };
              const matching = expected.filter((contact) => matches(contact, filter));
              const read = await readPages(source, domain, filter, 33);
              assert.deepEqual(read.contacts, matching, JSON.stringify(filter));
              assert.deepEqual(read.totals, new Set([matching.length]), JSON.stringify(filter));
            }
          }
        }
      }
    },
  );

  check(
    "search by job title compares whole words, ignoring case and accents",
    async ({ source, domain, load }) => {
      const titled = (position: string | null, index: number) =>
        contactOf(`p${index}@${domain}`, { position });
      const titles = [
        "Directeur Général",
        "CTO",
        "C.T.O.",
        "Director",
        "Head of Sales",
        "Sales Manager",
        null,
      ];
      await load({ contacts: titles.map(titled) });
      const found = async (...wanted: string[]) => {
        const filter = { jobTitles: wanted.map(titleKey) };
        const { contacts } = await source.search(domain, filter, { limit: 10, offset: 0 });
        return contacts.map(({ position }) => position);
      };
      assert.deepEqual(await found("directeur GENERAL"), ["Directeur Général"]);
      assert.deepEqual(await found("cto"), ["CTO", "C.T.O."]);
      assert.deepEqual(await found("sales", "head sales"), ["Head of Sales", "Sales Manager"]);
      assert.deepEqual(await found("sale"), []);
    },
  );

  check(
    "search with a filter that matches nothing returns no contacts and a total of 0",
    async ({ source, domain, load }) => {
      await load({ contacts: [contactOf(`a@${domain}`, { type: "generic" })] });
      for (const filter of [
        { type: "personal" },
        { seniorities: ["junior"] },
        { departments: ["it"] },
        { requiredFields: ["position"] },
        { verificationStatuses: ["valid"] },
        { jobTitles: [" cto "] },
      ] satisfies ContactFilter[]) {
        const page = await source.search(domain, filter, { limit: 10, offset: 0 });
        assert.deepEqual(page, { contacts: [], total: 0 });
      }
    },
  );
}
