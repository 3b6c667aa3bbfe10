import assert from "node:assert/strict";
import type { Contact } from "@outrigger/core/lookup";
import {
  assertPages,
  type ContactSourceTest,
  contactOf,
  inOrder,
  personOf,
  randomDomain,
  readPages,
  variedContacts,
} from "./samples.ts";

/** Erased data appears in no answer. */
export function erasureBehaviour(it: ContactSourceTest): void {
  it("an erased address appears in no answer", async ({ source, domain, load }) => {
    const [ann, bob] = [
      personOf(domain, "ann.lee", "Ann", "Lee"),
      personOf(domain, "bstone", "Bob", "Stone"),
    ];
    await load({ contacts: [{ ...ann, department: "it", seniority: "junior" }, bob] });
    assert.equal(await source.erase(ann.address), 1);
    assert.equal(await source.erase(ann.address), 0);
    assert.equal(await source.find(ann.address), null);
    assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), []);
    const page = { limit: 10, offset: 0 };
    assert.deepEqual(await source.search(domain, {}, page), { contacts: [bob], total: 1 });
    const filter = { departments: ["it" as const] };
    assert.deepEqual(await source.search(domain, filter, page), { contacts: [], total: 0 });
    const counts = { total: 1, personal: 1, generic: 0, departments: {}, seniorities: {} };
    assert.deepEqual(await source.count(domain), counts);
    assert.deepEqual((await source.domain(domain))?.patterns, [{ pattern: "{f}{last}", count: 1 }]);
    assert.deepEqual(await source.find(bob.address), bob);
  });

  it("paging stays exact after any erasure", async ({ source, domain, load }) => {
    const contacts = variedContacts(domain, 300);
    await load({ contacts });
    let left: Contact[] = inOrder(contacts);
    // The ends, both sides of a possible block edge, whole blocks, and some random positions.
    const blocks = Array.from({ length: 70 }, (_, index) => 100 + index);
    const gone = new Set([0, 1, 63, 64, 65, 128, 299, ...blocks, 200, 217, 251]);
    const victims = left.filter((_, index) => gone.has(index));
    left = left.filter((_, index) => !gone.has(index));
    for (const { address } of victims) assert.equal(await source.erase(address), 1);
    for (const limit of [1, 50]) {
      await assertPages(source, domain, {}, limit, left);
    }
    const generic = left.filter(({ type }) => type === "generic");
    await assertPages(source, domain, { type: "generic" }, 20, generic);
    assert.equal((await source.count(domain)).total, left.length);
  });

  it("of many simultaneous erase calls for one address, exactly one returns 1", async (scope) => {
    const { source, domain, load } = scope;
    await load({ contacts: variedContacts(domain, 20) });
    const { address } = variedContacts(domain, 20)[7] ?? contactOf("");
    const results = await Promise.all(Array.from({ length: 10 }, () => source.erase(address)));
    assert.deepEqual(results.toSorted(), [...Array(9).fill(0), 1]);
    assert.equal((await source.search(domain, {}, { limit: 1, offset: 0 })).total, 19);
  });

  it("after its last address is erased, a domain stays known only if it has an organisation", async (scope) => {
    const { source, domain, load } = scope;
    const nameless = randomDomain();
    await load({
      contacts: [contactOf(`a@${domain}`), contactOf(`a@${nameless}`)],
      organizations: { [domain]: `Org ${domain}` },
    });
    assert.equal(await source.erase(`a@${domain}`), 1);
    assert.equal(await source.erase(`a@${nameless}`), 1);
    const facts = await source.domain(domain);
    assert.deepEqual([facts?.organization, facts?.patterns], [`Org ${domain}`, []]);
    assert.equal(await source.domainOf(`Org ${domain}`), domain);
    assert.equal(await source.domain(nameless), null);
  });

  it("eraseDomain deletes everything about a domain and nothing about others", async (scope) => {
    const { source, domain, load } = scope;
    const other = `sub-${domain}`;
    const contacts = [...variedContacts(domain, 150), personOf(domain, "ann.lee", "Ann", "Lee")];
    await load({
      contacts: [...contacts, ...variedContacts(other, 5)],
      organizations: { [domain]: `Org ${domain}`, [other]: `Other ${domain}` },
    });
    assert.equal(await source.eraseDomain(domain), 1 + contacts.length);
    assert.equal(await source.eraseDomain(domain), 0);
    assert.equal(await source.domain(domain), null);
    assert.equal(await source.domainOf(`Org ${domain}`), null);
    const nothing = { contacts: [], total: 0 };
    assert.deepEqual(await source.search(domain, {}, { limit: 10, offset: 0 }), nothing);
    assert.equal((await source.count(domain)).total, 0);
    assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), []);
    for (const { address } of contacts) assert.equal(await source.find(address), null);
    assert.equal(await source.domainOf(`Other ${domain}`), other);
    assert.equal((await source.search(other, {}, { limit: 10, offset: 0 })).total, 5);
  });

  it("erase deletes the subaddresses of an address and nothing else", async ({ source, domain, load }) => {
    const other = `sub.${domain}`;
    const kept = ["ann", "ann.lee.x", "ann.lee-x", "ann.le"].map((local) => contactOf(`${local}@${domain}`));
    const elsewhere = contactOf(`ann.lee+a@${other}`);
    const covered = ["ann.lee", "ann.lee+a", "ann.lee+b+c"].map((local) => contactOf(`${local}@${domain}`));
    await load({ contacts: [...kept, elsewhere, ...covered] });
    assert.equal(await source.erase(`ann.lee+a@${domain}`), 1);
    assert.equal(await source.erase(`ann.lee@${domain}`), 2);
    for (const { address } of covered) assert.equal(await source.find(address), null);
    assert.deepEqual((await readPages(source, domain, {}, 10)).contacts, inOrder(kept));
    assert.deepEqual(await source.find(elsewhere.address), elsewhere);
  });

  it("eraseDomain deletes the subdomains of a domain", async ({ source, domain, load }) => {
    const [sub, deep] = [`sub.${domain}`, `a.b.${domain}`];
    await load({
      contacts: [contactOf(`a@${sub}`), ...variedContacts(deep, 3)],
      organizations: { [sub]: "Sub" },
    });
    assert.equal(await source.eraseDomain(domain), 2 + 4);
    for (const each of [sub, deep]) {
      assert.equal(await source.domain(each), null);
      assert.equal((await source.search(each, {}, { limit: 10, offset: 0 })).total, 0);
    }
    assert.equal(await source.domainOf("Sub"), null);
  });

  it("data loaded again after an erasure appears again", async ({ source, domain, load }) => {
    const contacts = variedContacts(domain, 70);
    await load({ contacts });
    await source.erase(contacts[0]?.address ?? "");
    await source.eraseDomain(domain);
    await load({ contacts: contacts.slice(0, 66) });
    const read = await readPages(source, domain, {}, 30);
    assert.deepEqual(read.contacts, inOrder(contacts.slice(0, 66)));
  });
}
