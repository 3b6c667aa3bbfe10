import { type AddressType, DEPARTMENTS, SENIORITIES } from "../../contracts/contact-source.ts";
import type { EmailCountAnswer } from "../answers.ts";
import { wordOf } from "./given.ts";
import type { LookupOperation } from "./operation.ts";
import { LOOKUP_PARAMETERS } from "./parameters.ts";
import {
  checkSubject,
  eraseSuppressed,
  findDomain,
  type Subject,
  type SubjectParameters,
} from "./subject.ts";

/** Selects the addresses of an organisation to count. */
export interface EmailCountParameters extends SubjectParameters {
  type?: AddressType;
}

type Data = EmailCountAnswer["data"];
type Params = EmailCountAnswer["meta"]["params"];

interface EmailCount extends Subject {
  type: AddressType | null;
}

const NONE = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };

export const emailCount: LookupOperation<EmailCount, Data, Params, object> = {
  parameters: ["domain", "company", "type"],

  check: (given) => ({
    ...checkSubject(given),
    type: wordOf(given, "type", LOOKUP_PARAMETERS.type, "invalid_type"),
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
      meta: {},
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
    meta: {},
  }),
};

function everyOf<T extends string>(names: readonly T[], counts: Partial<Record<T, number>>) {
  // One entry per name.
  return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0])) as Record<T, number>;
}
