import { expect, test } from "vitest";
import { contactOf, createLookupSite, createScriptedProber, LISTS } from "../../../test/lookup-site.ts";
import type { ProbeResult } from "../../contracts/mail-prober.ts";

const DAY_MS = 86_400_000;
const VALID = { server: true, mailbox: true, acceptsAll: false };
const INVALID = { server: true, mailbox: false, acceptsAll: false, reason: "user_unknown" } as const;
const ACCEPT_ALL = { server: true, mailbox: null, acceptsAll: true, reason: "accepts_all" } as const;
const UNKNOWN = { server: null, reason: "timeout", retryAfterMs: 1 } as const;

const ADA = contactOf("ada@example.com", { firstName: "Ada", lastName: "Lovelace", confidence: 90 });
const BOB = contactOf("bob@example.com", { confidence: 50 });

/** A site whose prober gives the answer of the moment, and whose cache keeps none. */
async function createSite(answer: Partial<ProbeResult>) {
  const script = { answer };
  const cache = { get: async () => undefined, set: async () => undefined, delete: async () => true };
  const prober = createScriptedProber(async () => script.answer);
  const site = await createLookupSite({ known: [ADA, BOB], prober, lists: LISTS, cache });
  return {
    site,
    async verify(email: string, next: Partial<ProbeResult> = script.answer) {
      script.answer = next;
      return (await site.get("email-verifier", `email=${email}`)).body.data;
    },
    async verification(address: string) {
      return (await site.contacts.find(address))?.verification;
    },
  };
}

test("a verification is kept with its contact and shown by domain-search and email-finder", async () => {
  const { site, verify } = await createSite(VALID);
  await verify("ADA@example.com");
  const entry = { date: "2026-03-01", status: "valid" };
  const search = await site.get("domain-search", "domain=example.com&verification_status=valid");
  expect(search.body.data?.emails).toEqual([
    expect.objectContaining({ value: ADA.address, verification: entry }),
  ]);
  const finder = await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
  expect(finder.body.data).toMatchObject({ email: ADA.address, verification: entry });
});

test("domain-search and email-finder tell that a domain accepts any address once a verification found it", async () => {
  const { site, verify } = await createSite(ACCEPT_ALL);
  const tell = async () => {
    const search = await site.get("domain-search", "domain=example.com");
    const finder = await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
    return [search.body.data?.accept_all, finder.body.data?.accept_all];
  };
  expect(await tell()).toEqual([false, false]);
  await verify("unknown.person@example.com");
  expect(await tell()).toEqual([true, true]);
  await verify(BOB.address, VALID);
  expect(await tell()).toEqual([false, false]);
});

test("an invalid contact is listed last with confidence 0, and email-finder does not return it", async () => {
  const { site, verify } = await createSite(INVALID);
  await verify(ADA.address);
  const { body } = await site.get("domain-search", "domain=example.com");
  const listed = body.data?.emails as { value: string; confidence: number; verification: unknown }[];
  expect(listed.map(({ value, confidence }) => [value, confidence])).toEqual([
    [BOB.address, 50],
    [ADA.address, 0],
  ]);
  expect(listed[1]?.verification).toEqual({ date: "2026-03-01", status: "invalid" });
  const finder = await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
  expect(finder.body.data).toMatchObject({ email: null, score: 0 });
  await verify(ADA.address, VALID);
  expect(await site.contacts.find(ADA.address)).toMatchObject({ confidence: 90 });
});

test("an uncertain verdict replaces a certain one only after 90 days", async () => {
  const { site, verify, verification } = await createSite(VALID);
  await verify(ADA.address);
  for (const days of [1, 89]) {
    site.clock.now = Date.parse("2026-03-01T12:00:00Z") + days * DAY_MS;
    await verify(ADA.address, UNKNOWN);
    expect(await verification(ADA.address)).toEqual({ status: "valid", date: "2026-03-01" });
  }
  site.clock.now += 3 * DAY_MS;
  await verify(ADA.address, UNKNOWN);
  expect(await verification(ADA.address)).toEqual({ status: "unknown", date: "2026-06-01" });
  await verify(ADA.address, INVALID);
  expect(await verification(ADA.address)).toEqual({ status: "invalid", date: "2026-06-01" });
});

test("a guess that email-finder probes keeps its verdict, and the reply has it", async () => {
  const { site, verification } = await createSite(VALID);
  const people = ["Alan Turing", "Mary Shelley", "Emmy Noether", "Karl Marx"].map((name) => {
    const [firstName = "", lastName = ""] = name.split(" ");
    return contactOf(`${firstName}.${lastName}@example.com`.toLowerCase(), { firstName, lastName });
  });
  await site.contacts.load({ contacts: [...people, contactOf("grace.hopper@example.com")] });
  const { body } = await site.get("email-finder", "domain=example.com&full_name=Grace%20Hopper");
  const entry = { date: "2026-03-01", status: "valid" };
  expect(body.data).toMatchObject({ email: "grace.hopper@example.com", verification: entry });
  expect(await verification("grace.hopper@example.com")).toEqual(entry);
});

test("an address that no server or list judged is not verified", async () => {
  const { verify, verification } = await createSite({ routing: "found", reason: "not_probed" });
  expect(await verify(ADA.address)).toMatchObject({ status: "unknown" });
  expect(await verification(ADA.address)).toBeUndefined();
});

test("a failure to store a verdict goes to onError, and the reply has the verdict", async () => {
  const { site, verify } = await createSite(VALID);
  const failure = new Error("The disk is full");
  site.contacts.recordVerification = () => {
    throw failure;
  };
  expect(await verify(ADA.address)).toMatchObject({ status: "valid" });
  expect(site.errors).toEqual([failure]);
});
