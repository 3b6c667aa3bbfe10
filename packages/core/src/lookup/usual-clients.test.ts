import { expect, test } from "vitest";
import { contactOf, createLookupSite } from "../../test/lookup-site.ts";

const ADA = contactOf("ada.lovelace@example.com", {
  firstName: "Ada",
  lastName: "Lovelace",
  position: "Chief Analyst",
});

test("domain accepts a host name with www., a URL and an address, and meta.params repeats it as written", async () => {
  const site = await createLookupSite({ known: [ADA], organizations: { "example.com": "Example" } });
  for (const written of [
    "www.example.com",
    "https://www.Example.com:8080/team?x=1",
    "@example.com",
    "ann@example.com",
  ]) {
    const query = `domain=${encodeURIComponent(written)}`;
    const searched = await site.get("domain-search", query);
    expect(searched.body).toMatchObject({
      data: { domain: "example.com", organization: "Example", emails: [{ value: ADA.address }] },
      meta: { params: { domain: written } },
    });
    const found = await site.get("email-finder", `${query}&full_name=Ada%20Lovelace`);
    expect(found.body.data).toMatchObject({ domain: "example.com", email: ADA.address });
    const counted = await site.get("email-count", query);
    expect(counted.body).toMatchObject({ data: { total: 1 }, meta: { params: { domain: written } } });
  }
});

test("a suppressed domain is refused also as a URL, and so is www. of a domain whose www. alone is suppressed", async () => {
  const site = await createLookupSite({ known: [ADA] });
  await site.lookup.suppress("gone.example");
  await site.lookup.suppress("www.example.com");
  const refusalOf = async (domain: string) => {
    const { status, body } = await site.get("domain-search", `domain=${encodeURIComponent(domain)}`);
    return [status, body.errors?.[0]?.id];
  };
  for (const domain of [
    "www.gone.example",
    "https://www.gone.example/team",
    "eve@gone.example",
    "https://www.example.com/",
    "ann@www.example.com",
    "@www.example.com",
    "Ann <ann@www.example.com>,",
  ]) {
    expect(await refusalOf(domain), domain).toEqual([400, "invalid_domain"]);
  }
  expect(await refusalOf("example.com")).toEqual([200, undefined]);
});

test("a company is found by its usual spellings, the one with the same legal form first", async () => {
  const organizations = {
    "acme.example": "Acme, Inc.",
    "acme.test": "Acme GmbH",
    "bau.example": "München Bau GmbH",
  };
  const site = await createLookupSite({ known: [contactOf("a@acme.test")], organizations });
  const domainOf = async (company: string) =>
    (await site.get("domain-search", `company=${encodeURIComponent(company)}`)).body.data?.domain;
  expect(await domainOf("ACME Inc")).toBe("acme.example");
  expect(await domainOf("acme gmbh")).toBe("acme.test");
  expect(await domainOf("Acme")).toBe("acme.test");
  expect(await domainOf("Muenchen Bau")).toBe("bau.example");
  expect(await domainOf("Acm")).toBeNull();
});

test("facts about the organisation that contacts do not tell are null, and technologies an empty list", async () => {
  const site = await createLookupSite({ known: [ADA], networkNames: { a: "linkedin", b: "twitter" } });
  const { body } = await site.get("domain-search", "domain=example.com");
  expect(body.data).toMatchObject({
    country: null,
    state: null,
    city: null,
    linkedin: null,
    twitter: null,
    technologies: [],
  });
  expect(body.data?.emails).toMatchObject([{ position: ADA.position, position_raw: ADA.position }]);
});
