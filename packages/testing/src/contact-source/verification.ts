import assert from "node:assert/strict";
import type { ContactSource, ContactVerification } from "@outrigger/core/lookup";
import {
  assertPages,
  type ContactSourceTest,
  contactOf,
  inOrder,
  randomDomain,
  readPages,
  variedContacts,
} from "./samples.ts";

const FIRST_PAGE = { limit: 10, offset: 0 };
const VALID = { status: "valid", date: "2026-05-04" } as const;
const INVALID = { status: "invalid", date: "2026-05-05" } as const;

/** Verdicts that are kept with contacts and domains. */
export function verificationBehaviour(it: ContactSourceTest, keepsVerifications: boolean): void {
  if (!keepsVerifications) {
    it("a source that keeps no verdicts has no method for them", async ({ source }) => {
      assert.equal(source.recordVerification, undefined);
    });
    return;
  }

  it("a recorded verdict appears in every answer on its contact and in no other", async (scope) => {
    const { source, domain, load } = scope;
    const person = { firstName: "Ann", lastName: "Lee", position: "CTO" };
    const [ann, bob] = [contactOf(`ann@${domain}`, person), contactOf(`bob@${domain}`)];
    await load({ contacts: [ann, bob] });
    for (const verification of [VALID, { ...VALID, date: "2026-06-01" }]) {
      await record(source, ann.address, verification);
      await record(source, ann.address, verification);
      const verified = { ...ann, verification };
      assert.deepEqual(await source.find(ann.address), verified);
      assert.deepEqual(await source.findByName(domain, "Ann", "Lee"), [verified]);
      const page = { contacts: [verified, bob], total: 2 };
      assert.deepEqual(await source.search(domain, {}, FIRST_PAGE), page);
    }
    assert.deepEqual(await source.find(bob.address), bob);
  });

  it("search by verdict and title follows each recorded verdict", async ({ source, domain, load }) => {
    const ann = contactOf(`ann@${domain}`, { position: "CTO" });
    await load({ contacts: [ann, contactOf(`bob@${domain}`, { position: "CTO" })] });
    const total = async (filter: Parameters<ContactSource["search"]>[1]) => {
      const found = await source.search(domain, filter, FIRST_PAGE);
      assert.equal(found.contacts.length, found.total);
      return found.total;
    };
    const jobTitles = [" cto "];
    assert.equal(await total({ verificationStatuses: ["valid", "unknown", "accept_all"] }), 0);
    for (const status of ["unknown", "accept_all", "valid"] as const) {
      await record(source, ann.address, { status, date: "2026-05-04" });
      assert.equal(await total({ verificationStatuses: [status] }), 1);
      assert.equal(await total({ verificationStatuses: [status], jobTitles }), 1);
      const others = (["unknown", "accept_all", "valid"] as const).filter((each) => each !== status);
      assert.equal(await total({ verificationStatuses: others, jobTitles }), 0);
    }
    assert.equal(await total({ jobTitles }), 2);
    await source.erase(ann.address);
    assert.equal(await total({ verificationStatuses: ["valid"] }), 0);
    assert.equal(await total({ jobTitles }), 1);
  });

  it("an invalid address has confidence 0 until another verdict, and paging stays exact", async (scope) => {
    const { source, domain, load } = scope;
    const contacts = variedContacts(domain, 300).map(({ verification: _, ...each }) => each);
    await load({ contacts });
    const dead = inOrder(contacts).filter((_, index) => [0, 1, 63, 64, 65, 128, 200].includes(index));
    const isDead = (address: string) => dead.some((each) => each.address === address);
    for (const { address } of dead) await record(source, address, INVALID);
    const expected = contacts.map((each) =>
      isDead(each.address) ? { ...each, confidence: 0, verification: INVALID } : each,
    );
    for (const limit of [1, 50]) {
      await assertPages(source, domain, {}, limit, inOrder(expected));
    }
    for (const { address } of dead) await record(source, address, VALID);
    const valid = contacts.map((each) => (isDead(each.address) ? { ...each, verification: VALID } : each));
    assert.deepEqual((await readPages(source, domain, {}, 50)).contacts, inOrder(valid));
  });

  it("an address that a verdict calls valid counts double in the patterns, from then on", async (scope) => {
    const { source, domain, load } = scope;
    const named = { firstName: "Ann", lastName: "Lee" };
    const addresses = ["alee", "ann.lee"].map((local) => contactOf(`${local}@${domain}`, named));
    await load({ contacts: addresses });
    const best = async () => (await source.domain(domain))?.patterns[0]?.pattern;
    assert.equal(await best(), "{first}.{last}");
    await record(source, `alee@${domain}`, VALID);
    assert.equal(await best(), "{f}{last}");
    await record(source, `alee@${domain}`, INVALID);
    assert.equal(await best(), "{first}.{last}");
  });

  it("a verdict shows whether its domain accepts any address; unknown subjects stay unknown", async (scope) => {
    const { source, domain, load } = scope;
    await load({ contacts: [contactOf(`ann@${domain}`)] });
    const acceptsAll = async () => (await source.domain(domain))?.acceptsAll;
    assert.equal(await acceptsAll(), undefined);
    await record(source, `unknown.person@${domain}`, VALID, false);
    assert.equal(await acceptsAll(), false);
    await record(source, `ann@${domain}`, { ...VALID, status: "accept_all" }, true);
    await record(source, `ann@${domain}`, { ...VALID, status: "unknown" }, null);
    assert.equal(await acceptsAll(), true);
    assert.equal(await source.find(`unknown.person@${domain}`), null);
    const unknown = randomDomain();
    await record(source, `ann@${unknown}`, VALID, true);
    assert.equal(await source.domain(unknown), null);
  });

  it("an erased contact leaves no verdict", async ({ source, domain, load }) => {
    const ann = contactOf(`ann@${domain}`);
    await load({ contacts: [ann] });
    await record(source, ann.address, INVALID);
    await source.erase(ann.address);
    await record(source, ann.address, INVALID);
    assert.equal(await source.find(ann.address), null);
    await load({ contacts: [ann] });
    assert.deepEqual(await source.find(ann.address), ann);
  });
}

async function record(
  source: ContactSource,
  address: string,
  verification: ContactVerification,
  acceptsAll: boolean | null = null,
): Promise<void> {
  assert.ok(source.recordVerification, "the source has no recordVerification");
  await source.recordVerification(address, verification, acceptsAll);
}
