import assert from "node:assert/strict";
import { type ContactFilter, DEPARTMENTS, SENIORITIES, titleKey } from "@outrigger/core/lookup";
import {
  assertPages,
  type ContactSourceTest,
  contactOf,
  inOrder,
  matches,
  randomDomain,
  variedContacts,
} from "./samples.ts";

const TYPES: ContactFilter[] = [{}, { type: "personal" }, { type: "generic" }];
const SENIORITY_LISTS = [...SENIORITIES.map((each) => [each]), ["senior", "junior"] as const, SENIORITIES];
const DEPARTMENT_LISTS = [["it"], ["operations", "executive"], DEPARTMENTS] as const;
const REQUIRED_LISTS = [["full_name"], ["phone_number", "position"]] as const;
const STATUS_LISTS = [["valid"], ["accept_all", "unknown", "invalid"]] as const;
const TITLE_LISTS = [[" cto "], [" manager ", " senior manager "], [" nothing "]];

/** Every combination of one filter of each list. */
function combined(...lists: readonly ContactFilter[][]): ContactFilter[] {
  return lists.reduce((all, list) => all.flatMap((one) => list.map((other) => ({ ...one, ...other }))), [{}]);
}

/** Order, paging and filters. */
export function searchBehaviour(it: ContactSourceTest, contactCount: number): void {
  it("search orders by highest confidence, then by the bytes of the address", async (scope) => {
    const { source, domain, load } = scope;
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
  });

  it("search pages return every contact once, with the total on each page", async (scope) => {
    const { source, domain, load } = scope;
    const contacts = variedContacts(domain, contactCount);
    await load({ contacts: [...contacts, ...variedContacts(randomDomain(), 20)] });
    const expected = inOrder(contacts);
    for (const limit of [7, 64, 100]) {
      await assertPages(source, domain, {}, limit, expected);
    }
    for (const offset of [0, 1, 63, 64, 65, 127, 128, contactCount - 1, contactCount - 3]) {
      const page = await source.search(domain, {}, { limit: 2, offset });
      assert.deepEqual(page, { contacts: expected.slice(offset, offset + 2), total: contactCount });
    }
  });

  it("search beyond the end returns no contacts and the same total", async ({ source, domain, load }) => {
    const contacts = variedContacts(domain, 130);
    await load({ contacts });
    for (const offset of [130, 131, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(await source.search(domain, {}, { limit: 10, offset }), { contacts: [], total: 130 });
      const filter: ContactFilter = { type: "generic" };
      const { length: total } = contacts.filter((contact) => matches(contact, filter));
      assert.deepEqual(await source.search(domain, filter, { limit: 10, offset }), { contacts: [], total });
    }
  });

  it("search with any combination of filters returns each matching contact once, in order", async (scope) => {
    const { source, domain, load } = scope;
    const contacts = variedContacts(domain, 300);
    await load({ contacts });
    const expected = inOrder(contacts);
    const seniorities = SENIORITY_LISTS.map((each) => ({ seniorities: each }));
    const departments = DEPARTMENT_LISTS.map((each) => ({ departments: each }));
    for (const filter of combined(TYPES, [{}, ...seniorities], [{}, ...departments])) {
      const matching = expected.filter((contact) => matches(contact, filter));
      await assertPages(source, domain, filter, 33, matching);
    }
  });

  it("search by required fields, verdict and job title returns each match once, in order", async (scope) => {
    const { source, domain, load } = scope;
    const contacts = variedContacts(domain, 300);
    await load({ contacts });
    const expected = inOrder(contacts);
    const required = REQUIRED_LISTS.map((requiredFields) => ({ requiredFields }));
    const statuses = STATUS_LISTS.map((verificationStatuses) => ({ verificationStatuses }));
    const titles = TITLE_LISTS.map((jobTitles) => ({ jobTitles }));
    const others: ContactFilter[] = [{}, { type: "generic", seniorities: ["senior", "junior"] }];
    for (const filter of combined([{}, ...required], [{}, ...statuses], [{}, ...titles], others)) {
      const matching = expected.filter((contact) => matches(contact, filter));
      await assertPages(source, domain, filter, 33, matching);
    }
  });

  it("search by job title compares whole words, ignoring case and accents", async (scope) => {
    const { source, domain, load } = scope;
    const titled = (position: string | null, index: number) => contactOf(`p${index}@${domain}`, { position });
    const sales = ["Head of Sales", "Sales Manager"];
    const titles = ["Directeur Général", "CTO", "C.T.O.", "Director", ...sales, null];
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
  });

  it("search with a filter that matches nothing returns no contacts and a total of 0", async (scope) => {
    const { source, domain, load } = scope;
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
  });
}
