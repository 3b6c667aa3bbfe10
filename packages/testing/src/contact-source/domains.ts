import assert from "node:assert/strict";
import { DEPARTMENTS, MAX_LINKED_DOMAINS, SENIORITIES } from "@outrigger/core/lookup";
import { type ContactSourceTest, contactOf, personOf, randomDomain, variedContacts } from "./samples.ts";

/** Facts about domains. */
export function domainsBehaviour(it: ContactSourceTest): void {
  it("domain returns the organisation's name, and null if only addresses are known", async (scope) => {
    const { source, domain, load } = scope;
    const [nameless, empty] = [randomDomain(), randomDomain()];
    await load({
      contacts: [contactOf(`a@${domain}`), contactOf(`a@${nameless}`)],
      organizations: { [domain]: `Müller & “Söhne” ${domain}`, [empty]: "Empty" },
    });
    assert.equal((await source.domain(domain))?.organization, `Müller & “Söhne” ${domain}`);
    for (const [each, organization] of [
      [nameless, null],
      [empty, "Empty"],
    ] as const) {
      const facts = await source.domain(each);
      assert.deepEqual([facts?.organization, facts?.patterns], [organization, []]);
    }
    assert.equal(await source.domain(`x${domain}`), null);
  });

  it("domainOf finds an organisation's domain ignoring case, and no other domain", async (scope) => {
    const { source, domain, load } = scope;
    const company = `Große Ärzte ${domain}`;
    await load({ contacts: [], organizations: { [domain]: company } });
    for (const name of [company, company.toUpperCase().replace("SS", "ß"), company.toLowerCase()]) {
      assert.equal(await source.domainOf(name), domain, name);
    }
    for (const name of [company.slice(0, -1), `${company}x`, "%", "Große%", ""]) {
      assert.equal(await source.domainOf(name), null, name);
    }
  });

  it("domainOf finds usual spellings of a name, one with the same legal form first, then one without", async (scope) => {
    const { source, domain, load } = scope;
    const [plain, large, inc] = [randomDomain(), randomDomain(), randomDomain()];
    const name = `Müller & Söhne ${domain.replaceAll(".", " ")}`;
    await load({
      contacts: variedContacts(large, 3),
      organizations: { [large]: `${name}, S.A.`, [inc]: `${name}, Inc.`, [plain]: name },
    });
    const plainly = name.replace("Müller & Söhne", "MUELLER UND SOEHNE");
    assert.equal(await source.domainOf(`${plainly} Incorporated`), inc);
    assert.equal(await source.domainOf(`${plainly} SA`), large);
    assert.equal(await source.domainOf(`${plainly} GmbH`), plain);
    assert.equal(await source.domainOf(plainly), plain);
    await source.eraseDomain(plain);
    assert.equal(await source.domainOf(plainly), large);
    assert.deepEqual((await source.domain(large))?.linkedDomains, []);
  });

  it("domainOf finds the same name first, and a name with other word breaks last", async (scope) => {
    const { source, domain, load } = scope;
    const end = domain.replaceAll(".", " ");
    const [bluesky, blue, resume, accented, huawei] = Array.from({ length: 5 }, randomDomain);
    const of = (...domains: (string | undefined)[]) => domains.map((each = "") => each);
    const [joined = "", apart = "", plain = "", acute = "", chinese = ""] = of(
      bluesky,
      blue,
      resume,
      accented,
      huawei,
    );
    await load({
      contacts: [...variedContacts(joined, 3), ...variedContacts(plain, 3), ...variedContacts(chinese, 3)],
      organizations: {
        ...{ [joined]: `Bluesky ${end}`, [apart]: `Blue Sky GmbH ${end}` },
        ...{ [plain]: `Resume ${end}`, [acute]: `Résumé ${end}`, [chinese]: `华为 ${end}` },
      },
    });
    assert.equal(await source.domainOf(`résumé ${end}`), acute);
    assert.equal(await source.domainOf(`RESUME ${end}`), plain);
    assert.equal(await source.domainOf(`blue sky gmbh ${end}`), apart);
    assert.equal(await source.domainOf(`Blue-sky ${end}`), joined);
    assert.equal(await source.domainOf(`华为 ${end}`), chinese);
    assert.equal(await source.domainOf(`华威 ${end}`), null);
    assert.deepEqual((await source.domain(plain))?.linkedDomains, []);
    await load({ contacts: [], organizations: { [domain]: `RESUME, ${end}.` } });
    assert.deepEqual((await source.domain(plain))?.linkedDomains, [domain]);
  });

  it("domainOf returns the domain with the most addresses if an organisation has several", async (scope) => {
    const { source, domain, load } = scope;
    const [small, none] = [randomDomain(), randomDomain()];
    await load({
      contacts: [...variedContacts(small, 3), ...variedContacts(domain, 4)],
      organizations: { [small]: `Org ${domain}`, [none]: `ORG ${domain}`, [domain]: `org ${domain}` },
    });
    assert.equal(await source.domainOf(`oRg ${domain}`), domain);
    await source.eraseDomain(domain);
    assert.equal(await source.domainOf(`oRg ${domain}`), small);
    for (const { address } of variedContacts(small, 3)) await source.erase(address);
    assert.ok([small, none].includes((await source.domainOf(`oRg ${domain}`)) ?? ""));
  });

  it("domain returns the other domains of the organisation, sorted and bounded", async (scope) => {
    const { source, domain, load } = scope;
    const others = Array.from({ length: MAX_LINKED_DOMAINS + 5 }, randomDomain).sort();
    const [first = "", second = "", ...further] = others;
    const company = `Linked ${domain}`;
    await load({
      contacts: [contactOf(`a@${second}`)],
      organizations: { [domain]: company, [second]: company.toUpperCase(), [first]: company },
    });
    const linkedTo = async (each: string) => (await source.domain(each))?.linkedDomains ?? [];
    assert.deepEqual(await linkedTo(domain), [first, second]);
    assert.deepEqual(await linkedTo(first), [domain, second].sort());
    await source.eraseDomain(first);
    assert.deepEqual(await linkedTo(domain), [second]);
    const organizations = Object.fromEntries([first, ...further].map((each) => [each, company]));
    await load({ contacts: [], organizations });
    assert.deepEqual(await linkedTo(domain), others.slice(0, MAX_LINKED_DOMAINS));
    const nameless = randomDomain();
    await load({ contacts: [contactOf(`a@${nameless}`)] });
    assert.deepEqual(await linkedTo(nameless), []);
  });

  it("count counts by type, department and seniority, and omits values without contacts", async (scope) => {
    const { source, domain, load } = scope;
    const contacts = variedContacts(domain, 211);
    await load({ contacts: [...contacts, ...variedContacts(randomDomain(), 10)] });
    for (const type of [undefined, "personal", "generic"] as const) {
      const counted = contacts.filter((contact) => type === undefined || contact.type === type);
      const amount = (test: (contact: (typeof contacts)[number]) => boolean) => counted.filter(test).length;
      const present = <Name extends string>(names: readonly Name[], key: "department" | "seniority") =>
        Object.fromEntries(
          names
            .map((name) => [name, amount((contact) => contact[key] === name)] as const)
            .filter(([, count]) => count > 0),
        );
      assert.deepEqual(await source.count(domain, type), {
        total: counted.length,
        personal: amount((contact) => contact.type === "personal"),
        generic: amount((contact) => contact.type === "generic"),
        departments: present(DEPARTMENTS, "department"),
        seniorities: present(SENIORITIES, "seniority"),
      });
    }
    const one = randomDomain();
    await load({ contacts: [contactOf(`a@${one}`, { department: "it" })] });
    const alone = { total: 1, personal: 1, generic: 0, departments: { it: 1 }, seniorities: {} };
    assert.deepEqual(await source.count(one), alone);
  });

  it("domain returns the address patterns, most frequent first", async ({ source, domain, load }) => {
    const people = [
      ["Ann", "Lee"],
      ["Bob", "Stone"],
      ["Carl", "Woods"],
      ["Dora", "Fields"],
      ["Emma", "Rivers"],
    ] as const;
    const dotted = people.map(([first, last]) =>
      personOf(domain, `${first}.${last}`.toLowerCase(), first, last),
    );
    const initials = people
      .slice(0, 3)
      .map(([first, last]) => personOf(domain, `${first.slice(0, 1)}${last}`.toLowerCase(), first, last));
    await load({ contacts: [...initials, ...dotted] });
    assert.deepEqual((await source.domain(domain))?.patterns, [
      { pattern: "{first}.{last}", count: 5 },
      { pattern: "{f}{last}", count: 3 },
    ]);
  });

  it("patterns are learned from addresses without a page too, which count half beside others", async (scope) => {
    const { source, domain, load } = scope;
    const unseen = (local: string, first: string, last: string) => ({
      ...personOf(domain, local, first, last),
      evidence: [],
    });
    const imported = [unseen("alee", "Ann", "Lee"), unseen("bstone", "Bob", "Stone")];
    const nameless = { ...unseen("carl.woods", "Carl", "Woods"), lastName: null };
    const dead = {
      ...unseen("dora.fields", "Dora", "Fields"),
      ...{ confidence: 0, verification: { status: "invalid", date: "2026-05-04" } as const },
    };
    await load({ contacts: [...imported, nameless, dead] });
    const patterns = async () => (await source.domain(domain))?.patterns;
    assert.deepEqual(await patterns(), [{ pattern: "{f}{last}", count: 2 }]);
    const people = [
      ["Emma", "Rivers"],
      ["Fred", "Hills"],
    ] as const;
    const paged = people.map(([first, last]) =>
      personOf(domain, `${first}.${last}`.toLowerCase(), first, last),
    );
    await load({ contacts: [...paged, unseen("gmoor", "Gina", "Moor")] });
    assert.deepEqual(await patterns(), [
      { pattern: "{first}.{last}", count: 3 },
      { pattern: "{f}{last}", count: 2 },
    ]);
  });

  it("domainOf skips the excluded domains of an organisation", async ({ source, domain, load }) => {
    const small = randomDomain();
    await load({
      contacts: [...variedContacts(domain, 4), ...variedContacts(small, 3)],
      organizations: { [domain]: `Skip ${domain}`, [small]: `Skip ${domain}` },
    });
    assert.equal(await source.domainOf(`Skip ${domain}`), domain);
    assert.equal(await source.domainOf(`Skip ${domain}`, (each) => each === domain), small);
    assert.equal(await source.domainOf(`Skip ${domain}`, () => true), null);
  });
}
