import { type AddressType, DEPARTMENTS, SENIORITIES } from "../../contracts/contact-source.ts";
import { wordParameter } from "../http/query.ts";
import { TYPE_SCHEMA } from "./filter-schemas.ts";
import type { LookupOperation } from "./operation.ts";
import { eraseSuppressed } from "./search-unsuppressed.ts";
import { findDomain, parseSubject, type Subject } from "./subject.ts";

interface EmailCount extends Subject {
  type: AddressType | null;
}

const NONE = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };

export const emailCount: LookupOperation<EmailCount> = {
  isOpen: true,

  parse: (query) => ({
    ...parseSubject(query),
    type: wordParameter(query, "type", TYPE_SCHEMA, "invalid_type"),
  }),

  echo: ({ writtenDomain, company, type }) => ({ domain: writtenDomain, company, type }),

  async work(context, search) {
    const found = await findDomain(context, search);
    if (found !== null) await eraseSuppressed(context, found);
    const counts =
      found === null ? NONE : await context.contacts.count(found.domain, search.type ?? undefined);
    return {
      data: {
        total: counts.total,
        personal_emails: counts.personal,
        generic_emails: counts.generic,
        department: everyOf(DEPARTMENTS, counts.departments),
        seniority: everyOf(SENIORITIES, counts.seniorities),
      },
    };
  },

  sample: () => ({
    data: {
      total: 1,
      personal_emails: 1,
      generic_emails: 0,
      department: everyOf(DEPARTMENTS, { executive: 1 }),
      seniority: everyOf(SENIORITIES, { executive: 1 }),
    },
  }),
};

function everyOf<T extends string>(names: readonly T[], counts: Partial<Record<T, number>>) {
  return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]));
}
