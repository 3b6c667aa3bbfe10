import assert from "node:assert/strict";
import type { ContactSource } from "@outrigger/core/lookup";
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
import { verificationBehaviour } from "./contact-source/verification.ts";
import { closedBehaviour, pairTest } from "./pair.ts";

export interface ContactSourceContractOptions<Source extends ContactSource> {
  /** Loads these contacts into the source, as an import would. Resolves when every answer includes them. */
  load(source: Source, data: ContactData): Promise<void>;
  /** Number of contacts in the largest domain, at least 300. @default 1000 */
  contacts?: number;
  /** Whether the source stores verdicts: it has `recordVerification`. @default true */
  keepsVerifications?: boolean;
}

/**
 * Tests that a source fulfils the {@link ContactSource} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a source. Several may share one backend that already holds data: every case uses its
 * own domains.
 */
export function contactSourceContract<Source extends ContactSource>(
  test: ConformanceTest,
  create: () => Promise<Source>,
  options: ContactSourceContractOptions<Source>,
): void {
  const pairs = pairTest(test, "contact source", create);
  const it: ContactSourceTest = (name, body) =>
    pairs(name, ({ one: source }) =>
      body({ source, domain: randomDomain(), load: (data) => options.load(source, data) }),
    );
  domainsBehaviour(it);
  searchBehaviour(it, options.contacts ?? 1000);
  peopleBehaviour(it);
  erasureBehaviour(it);
  verificationBehaviour(it, options.keepsVerifications ?? true);

  closedBehaviour(
    it,
    async ({ source, domain, load }) => {
      await load({ contacts: [contactOf(`a@${domain}`)] });
      return source;
    },
    ({ source, domain }) => ({
      domain: () => source.domain(domain),
      domainOf: () => source.domainOf(domain),
      search: () => source.search(domain, {}, { limit: 1, offset: 0 }),
      find: () => source.find(`a@${domain}`),
      findByName: () => source.findByName(domain, "A", "B"),
      count: () => source.count(domain),
      ...(source.recordVerification && {
        recordVerification: () =>
          source.recordVerification?.(`a@${domain}`, { status: "valid", date: "2026-05-04" }, true),
      }),
      erase: () => source.erase(`a@${domain}`),
      eraseDomain: () => source.eraseDomain(domain),
    }),
  );

  it("an unknown domain has no facts, contacts or counts", async ({ source, domain }) => {
    assert.equal(await source.domain(domain), null);
    assert.equal(await source.domainOf(domain), null);
    assert.deepEqual(await source.search(domain, {}, { limit: 100, offset: 0 }), { contacts: [], total: 0 });
    assert.equal(await source.find(`a@${domain}`), null);
    assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), []);
    const none = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };
    assert.deepEqual(await source.count(domain), none);
    assert.deepEqual(await source.count(domain, "generic"), none);
    assert.equal(await source.erase(`a@${domain}`), 0);
    assert.equal(await source.eraseDomain(domain), 0);
  });
}
