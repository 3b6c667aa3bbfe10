import assert from "node:assert/strict";
import type { ContactSource } from "../contracts/contact-source.ts";
import { assertRejects } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { domainsBehaviour } from "./contact-source/domains.ts";
import { erasureBehaviour } from "./contact-source/erasure.ts";
import { peopleBehaviour } from "./contact-source/people.ts";
import {
  type ContactData,
  type ContactSourceTest,
  contactOf,
  randomDomain,
} from "./contact-source/samples.ts";
import { searchBehaviour } from "./contact-source/search.ts";
import { assertRecognised } from "./foreign-copy.ts";

export interface ContactSourceContractOptions<Source extends ContactSource> {
  /** Makes the source know these, as an import would. Resolves when everything that it tells is up to date. */
  load(source: Source, data: ContactData): Promise<void>;
  /** Contacts of the largest domain, at least 300. @default 1000 */
  contacts?: number;
}

/**
 * What every {@link ContactSource} must do.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Makes a source. Those that it makes may share one backend, with whatever is in it: every case keeps to
 * domains of its own.
 */
export function contactSourceContract<Source extends ContactSource>(
  test: ConformanceTest,
  create: () => Promise<Source>,
  options: ContactSourceContractOptions<Source>,
): void {
  const check: ContactSourceTest = (name, body) =>
    test(`contact source: ${name}`, async () => {
      const source = await create();
      try {
        await body({ source, domain: randomDomain(), load: (data) => options.load(source, data) });
      } finally {
        await source.close();
      }
    });
  domainsBehaviour(check);
  searchBehaviour(check, options.contacts ?? 1000);
  peopleBehaviour(check);
  erasureBehaviour(check);

  check("rejects with errors that another copy of core recognises", async ({ source, domain }) => {
    await source.close();
    await assertRecognised(() => source.domain(domain), "store_unavailable");
  });

  check("answers nothing once it is closed, which may happen twice", async ({ source, domain, load }) => {
    await load({ contacts: [contactOf(`a@${domain}`)] });
    await source.close();
    await source.close();
    await assertRejects(() => source.domain(domain), "store_unavailable", "domain");
    await assertRejects(() => source.domainOf(domain), "store_unavailable", "domainOf");
    const page = { limit: 1, offset: 0 };
    await assertRejects(() => source.search(domain, {}, page), "store_unavailable", "search");
    await assertRejects(() => source.find(`a@${domain}`), "store_unavailable", "find");
    await assertRejects(() => source.findByName(domain, "A", "B"), "store_unavailable", "findByName");
    await assertRejects(() => source.count(domain), "store_unavailable", "count");
    await assertRejects(() => source.erase(`a@${domain}`), "store_unavailable", "erase");
    await assertRejects(() => source.eraseDomain(domain), "store_unavailable", "eraseDomain");
  });

  check("knows nothing of a domain that it was told nothing of", async ({ source, domain }) => {
    assert.equal(await source.domain(domain), null);
    assert.equal(await source.domainOf(domain), null);
    assert.deepEqual(await source.search(domain, {}, { limit: 100, offset: 0 }), { contacts: [], total: 0 });
    assert.equal(await source.find(`a@${domain}`), null);
    assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), []);
    const none = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };
    assert.deepEqual(await source.count(domain), none);
    assert.deepEqual(await source.count(domain, "generic"), none);
    assert.equal(await source.erase(`a@${domain}`), false);
    assert.equal(await source.eraseDomain(domain), false);
  });
}
