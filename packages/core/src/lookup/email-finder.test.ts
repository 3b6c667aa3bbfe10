import { describe, expect, test } from "vitest";
import { contactOf, createLookupSite, createScriptedProber, LISTS } from "../../test/lookup-site.ts";
import type { ProbeResult } from "../contracts/mail-prober.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  confidence: 94,
  firstName: "Ada",
  lastName: "Lovelace",
  position: "Chief Analyst",
  networkAUrl: "https://network.example/in/ada",
  networkB: "ada",
});
/** Enough addresses to learn a pattern from. */
const known = [
  ADA,
  ...["Grace Hopper", "Alan Turing", "Mary Shelley", "Karl Marx", "Emmy Noether"].map((name) => {
    const [firstName = "", lastName = ""] = name.split(" ");
    return contactOf(`${firstName}.${lastName}@example.com`.toLowerCase(), { firstName, lastName });
  }),
];
const organizations = { "example.com": "Example Ltd" };
const EDITH = "domain=example.com&first_name=Edith&last_name=Clarke";

describe("email-finder, without a prober,", () => {
  test("returns a known address with all known facts about its owner", async () => {
    const site = await createLookupSite({ known, organizations });
    const { status, body } = await site.get(
      "email-finder",
      "domain=example.com&first_name=ADA&last_name=lovelace",
    );
    expect(status).toBe(200);
    expect(body.data).toEqual({
      first_name: "Ada",
      last_name: "Lovelace",
      email: "ada.lovelace@example.com",
      score: 94,
      domain: "example.com",
      accept_all: false,
      position: "Chief Analyst",
      network_a: null,
      network_a_url: "https://network.example/in/ada",
      network_b: "ada",
      phone_number: null,
      company: "Example Ltd",
      verification: { date: null, status: null },
      sources: [expect.objectContaining({ domain: "example.com" })],
    });
    expect(body.meta).toEqual({
      params: {
        first_name: "ADA",
        last_name: "lovelace",
        full_name: null,
        domain: "example.com",
        company: null,
        max_duration: null,
      },
    });
  });

  test.each([
    [["Petra Müller", "Ute Köhler", "Jan Lüth"], ["mueller", "koehler", "lueth"], "Böhm", "boehm"],
    [
      ["Jan van den Berg", "Piet de Vries", "Max van Dijk"],
      ["berg", "vries", "dijk"],
      "van der Meer",
      "meer",
    ],
  ])(
    "writes a name as the domain wrote %j: with a score of at least 80",
    async (names, written, lastName, text) => {
      const others = names.map((name, index) => {
        const [firstName = "", ...last] = name.split(" ");
        const address = `${firstName.toLowerCase()}.${written[index]}@example.com`;
        return contactOf(address, { firstName, lastName: last.join(" ") });
      });
      const site = await createLookupSite({ known: others, organizations });
      const { body } = await site.get(
        "email-finder",
        `domain=example.com&first_name=Tom&last_name=${encodeURIComponent(lastName)}`,
      );
      expect(body.data?.email).toBe(`tom.${text}@example.com`);
      expect(body.data?.score).toBeGreaterThanOrEqual(80);
    },
  );

  test("reads a plus sign between letters of full_name as a space", async () => {
    const site = await createLookupSite({ known });
    const search = "domain=example.com&full_name=Ada%2BLovelace&max_duration=5";
    const { body } = await site.get("email-finder", search);
    expect(body.data).toMatchObject({ email: "ada.lovelace@example.com" });
    expect(body.meta?.params).toMatchObject({ full_name: "Ada+Lovelace", max_duration: 5 });
  });

  test("does not guess an address whose last verdict is invalid", async () => {
    const dead = contactOf("edith.clarke@example.com", {
      verification: { status: "invalid", date: "2026-02-03" },
    });
    const site = await createLookupSite({ known: [...known, dead] });
    const { body } = await site.get("email-finder", EDITH);
    expect(body.data).toMatchObject({ email: null, score: 0 });
  });

  test("guesses by the domain's pattern, with a limited score", async () => {
    const site = await createLookupSite({ known });
    const { body } = await site.get("email-finder", EDITH);
    expect(body.data).toMatchObject({ email: "edith.clarke@example.com", sources: [] });
    expect(body.data?.score).toBeGreaterThan(50);
    expect(body.data?.score).toBeLessThanOrEqual(95);
  });

  test("returns a person known in another usual spelling, with a lower score than the person's own", async () => {
    const yulia = contactOf("y.petrova@example.com", {
      ...{ confidence: 80, firstName: "Yulia", lastName: "Petrova" },
    });
    const site = await createLookupSite({ known: [...known, yulia] });
    for (const [name, score] of [
      ["Yulia Petrova", 80],
      ["Julia Petrova", 72],
      ["Юлия Петрова", 72],
    ] as const) {
      const search = `domain=example.com&full_name=${encodeURIComponent(name)}`;
      const { body } = await site.get("email-finder", search);
      expect(body.data).toMatchObject({ email: yulia.address, score, first_name: "Yulia" });
    }
  });

  test.each(["محمد الخطيب", "민준 김", "伟 王", "अमित शर्मा"])(
    "returns no guess for %s: its script has no sure spelling in Latin letters",
    async (name) => {
      const site = await createLookupSite({
        known,
        prober: createScriptedProber(async () => ({ mailbox: true })),
      });
      const search = `domain=example.com&full_name=${encodeURIComponent(name)}`;
      const { status, body } = await site.get("email-finder", search);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ email: null, score: 0 });
    },
  );

  test("refuses a full name that is only a noble surname, and says why", async () => {
    const site = await createLookupSite({ known });
    const { status, body } = await site.get("email-finder", "domain=example.com&full_name=von%20Neumann");
    expect(status).toBe(400);
    expect(body.errors?.[0]).toMatchObject({
      id: "invalid_full_name",
      details: expect.stringContaining("particles before a surname"),
    });
    const other = await site.get("email-finder", "domain=example.com&full_name=Di%20Zhang");
    expect(other.body.data).toMatchObject({ email: "di.zhang@example.com" });
  });

  test.each(["domain=unknown.example", "company=Unknown%20Company", "domain=webmail.example"])(
    "returns no address for %s",
    async (subject) => {
      const site = await createLookupSite({ known, lists: LISTS });
      const { status, body } = await site.get("email-finder", `${subject}&first_name=Edith&last_name=Clarke`);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ email: null, score: 0, first_name: "Edith", sources: [] });
    },
  );

  test("costs a point if an address was found, once a month per person", async () => {
    const site = await createLookupSite({ known });
    await site.get("email-finder", EDITH);
    await site.get("email-finder", EDITH);
    await site.get("email-finder", "domain=unknown.example&first_name=Edith&last_name=Clarke");
    const { body } = await site.get("account");
    expect(body.data).toMatchObject({ requests: { searches: { used: 1 }, verifications: { used: 0 } } });
  });
});

describe("email-finder, with a prober,", () => {
  const proberSaying = (byAddress: Record<string, Partial<ProbeResult>>) =>
    createScriptedProber(async (address) => byAddress[address] ?? { mailbox: false, reason: "user_unknown" });

  test("returns a guess with a high score if its server confirms it", async () => {
    const prober = proberSaying({ "edith.clarke@example.com": { mailbox: true, acceptsAll: false } });
    const site = await createLookupSite({ known, prober });
    expect((await site.get("email-finder", EDITH)).body.data).toMatchObject({
      email: "edith.clarke@example.com",
      score: 97,
      accept_all: false,
    });
  });

  test("tries the next guess if the server rejects one, at most three in total", async () => {
    const prober = proberSaying({});
    const site = await createLookupSite({ known, prober });
    expect((await site.get("email-finder", EDITH)).body.data).toMatchObject({ email: null, score: 0 });
    expect(prober.asked.length).toBeGreaterThan(1);
    expect(prober.asked.length).toBeLessThanOrEqual(3);
  });

  test("learns nothing from a server that accepts every address", async () => {
    const prober = createScriptedProber(async () => ({ mailbox: true, acceptsAll: true }));
    const site = await createLookupSite({ known, prober });
    const { body } = await site.get("email-finder", EDITH);
    expect(body.data).toMatchObject({ email: "edith.clarke@example.com", accept_all: true });
    expect(body.data?.score).toBeLessThan(97);
    expect(prober.asked).toHaveLength(1);
  });

  test("returns a confirmed guess for a domain without known addresses", async () => {
    const prober = proberSaying({
      "edith.clarke@unknown.example": { mailbox: true, acceptsAll: false },
    });
    const site = await createLookupSite({ known, prober });
    const { body } = await site.get("email-finder", EDITH.replace("example.com", "unknown.example"));
    expect(body.data).toMatchObject({ email: "edith.clarke@unknown.example", score: 97 });
  });

  test("waits at most max_duration for a server that does not answer", async () => {
    const prober = createScriptedProber(
      (_, __, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve({ reason: "timeout" }))),
    );
    const site = await createLookupSite({ known, prober });
    const began = performance.now();
    const { body } = await site.get("email-finder", `${EDITH}&max_duration=3`);
    expect(performance.now() - began).toBeGreaterThan(2900);
    expect(body.data).toMatchObject({ email: "edith.clarke@example.com" });
  });
});

test.each([
  ["first_name=Ada&last_name=Lovelace", "wrong_params"],
  ["domain=example.com&first_name=Ada", "wrong_params"],
  ["domain=localhost&full_name=Ada%20Lovelace", "invalid_domain"],
  ["domain=example.com&first_name=A&last_name=Lovelace", "invalid_first_name"],
  ["domain=example.com&first_name=Ada&last_name=4711", "invalid_last_name"],
  ["domain=example.com&full_name=Ada", "invalid_full_name"],
  ["domain=example.com&full_name=A%20L", "invalid_full_name"],
  ["domain=example.com&full_name=Ada%20Lovelace&max_duration=2", "invalid_max_duration"],
  ["domain=example.com&full_name=Ada%20Lovelace&max_duration=21", "invalid_max_duration"],
])("email-finder rejects %s with %s", async (search, id) => {
  const site = await createLookupSite({ known });
  const { status, body } = await site.get("email-finder", search);
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ id, code: 400, details: expect.any(String) }],
  });
});
