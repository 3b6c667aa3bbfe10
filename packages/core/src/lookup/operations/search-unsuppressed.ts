import type { ContactFilter, ContactPage, ContactSource } from "../../contracts/contact-source.ts";
import type { LookupContext } from "../lookup-context.ts";
import type { FoundDomain } from "./subject.ts";

/**
 * A page without suppressed addresses. A source contains those only if they were written to it directly. They
 * are then erased, so that counts match the addresses that can be shown.
 */
export async function searchUnsuppressed(
  { contacts, suppressions }: LookupContext,
  { domain, hasSuppressed }: FoundDomain,
  filter: ContactFilter,
  page: { limit: number; offset: number },
): Promise<ContactPage> {
  for (;;) {
    const found = await contacts.search(domain, filter, page);
    if (!hasSuppressed) return found;
    const hidden = await suppressions.among(found.contacts.map(({ address }) => address));
    if (hidden.size === 0) return found;
    if (!(await eraseAll(contacts, hidden))) return without(found, hidden);
  }
}

/**
 * Maximum number of contacts per domain that are checked before counting: a larger count reveals no person.
 */
const MAX_CHECKED = 1000;
const PAGE = 100;

/** Erases the suppressed addresses of a domain that a source still contains, so that they are not counted. */
export async function eraseSuppressed(context: LookupContext, found: FoundDomain): Promise<void> {
  if (!found.hasSuppressed) return;
  for (let offset = 0; offset < MAX_CHECKED; offset += PAGE) {
    const { total } = await searchUnsuppressed(context, found, {}, { limit: PAGE, offset });
    if (total <= offset + PAGE) return;
  }
}

/** @returns whether any address was erased: a source that erases none would otherwise be searched forever. */
async function eraseAll(contacts: ContactSource, addresses: ReadonlySet<string>): Promise<boolean> {
  let erased = 0;
  for (const address of addresses) erased += await contacts.erase(address);
  return erased > 0;
}

function without({ contacts, total }: ContactPage, hidden: ReadonlySet<string>): ContactPage {
  return { contacts: contacts.filter(({ address }) => !hidden.has(address)), total: total - hidden.size };
}
