import type { ContactFilter, ContactPage, ContactSource } from "../../contracts/contact-source.ts";
import type { LookupContext } from "../lookup-context.ts";
import type { FoundDomain } from "./subject.ts";

/**
 * A page without who asked to be left out. A source has them only where they were put into it behind the service's back: then
 * they are erased, so that what is counted is what can be shown.
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

/** Contacts of one domain that are checked before they are counted: in a larger one, a count tells nothing of a person. */
const MAX_CHECKED = 1000;
const PAGE = 100;

/** Erases who asked to be left out, where a source has them all the same, so that they are not counted. */
export async function eraseSuppressed(context: LookupContext, found: FoundDomain): Promise<void> {
  if (!found.hasSuppressed) return;
  for (let offset = 0; offset < MAX_CHECKED; offset += PAGE) {
    const { total } = await searchUnsuppressed(context, found, {}, { limit: PAGE, offset });
    if (total <= offset + PAGE) return;
  }
}

/** @returns whether all were there to be erased: a source that cannot would be asked for ever. */
async function eraseAll(contacts: ContactSource, addresses: ReadonlySet<string>): Promise<boolean> {
  const erased: boolean[] = [];
  for (const address of addresses) erased.push(await contacts.erase(address));
  return erased.some((isErased) => isErased);
}

function without({ contacts, total }: ContactPage, hidden: ReadonlySet<string>): ContactPage {
  return { contacts: contacts.filter(({ address }) => !hidden.has(address)), total: total - hidden.size };
}
