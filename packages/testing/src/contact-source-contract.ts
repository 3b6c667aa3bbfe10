import assert from "node:assert/strict";
import type { ContactSource } from "@outrigger/core/lookup";
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
import { verificationBehaviour } from "./contact-source/verification.ts";
import { assertRecognised } from "./foreign-copy.ts";

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
  verificationBehaviour(check, options.keepsVerifications ?? true);

  check("failures are errors that another copy of core recognises", async ({ source, domain }) => {
    await source.close();
    await assertRecognised(() => source.domain(domain), "store_unavailable");
  });

  check(
    "every method rejects with store_unavailable after close, and close may be called twice",
    async ({ source, domain, load }) => {
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
      const verdict = { status: "valid", date: "2026-05-04" } as const;
      const record = async () => source.recordVerification?.(`a@${domain}`, verdict, true);
      if (source.recordVerification) await assertRejects(record, "store_unavailable", "recordVerification");
      await assertRejects(() => source.erase(`a@${domain}`), "store_unavailable", "erase");
      await assertRejects(() => source.eraseDomain(domain), "store_unavailable", "eraseDomain");
    },
  );

  check("an unknown domain has no facts, contacts or counts", async ({ source, domain }) => {
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
