import { describe, expect, test } from "vitest";
import { CONFIRMED, createGate, type Site, siteOf, used } from "../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../test/lookup-site.ts";

describe("counting of library calls", () => {
  const ask = (site: Site, account?: string) => {
    const options = account === undefined ? {} : { account };
    return Promise.all([
      site.lookup.searchDomain({ domain: "example.com" }, options),
      site.lookup.findEmail({ domain: "example.com", fullName: "Ada Lovelace" }, options),
      site.lookup.verifyEmail("ada.lovelace@example.com", options),
      site.lookup.countEmails({ domain: "example.com" }),
    ]);
  };

  test("charges an account as over HTTP, and nothing for repeating a look-up in the month by call or HTTP", async () => {
    const site = await siteOf();
    await ask(site, site.account);
    expect(await used(site)).toEqual([2, 1]);
    await ask(site, site.account);
    await site.get("domain-search", "domain=example.com");
    await site.get("email-finder", "domain=example.com&full_name=Ada%20Lovelace");
    await site.get("email-verifier", "email=ada.lovelace@example.com");
    expect(await used(site)).toEqual([2, 1]);
  });

  test("rejects an account without points with rate_limited until the next month, but no call without an account", async () => {
    const site = await siteOf({ plans: { free: { searches: 1, verifications: 0 } } });
    const { lookup, account, clock } = site;
    const monthMs = Date.parse("2026-04-01T00:00:00.000Z") - clock.now;
    const refusal = { code: "rate_limited", id: "too_many_requests", retryAfterMs: monthMs };
    await expect(lookup.verifyEmail("ada.lovelace@example.com", { account })).rejects.toMatchObject(refusal);
    await lookup.searchDomain({ domain: "example.com" }, { account });
    const other = { domain: "example.com", limit: 1 };
    await expect(lookup.searchDomain(other, { account })).rejects.toMatchObject(refusal);
    expect((await lookup.searchDomain(other)).data.emails).toHaveLength(1);
    expect((await lookup.verifyEmail("ada.lovelace@example.com")).data.status).toBe("valid");
  });
});

test("a slow verification resolves to the body of the HTTP 202, goes on, and is counted once", async () => {
  const gate = createGate();
  const prober = createScriptedProber(async () => {
    await gate.opened;
    return CONFIRMED;
  });
  const site = await siteOf({ prober });
  const { lookup, account } = site;
  const ask = () => lookup.verifyEmail("new@example.com", { account, maxDurationMs: 3000 });
  const [early, overHttp] = await Promise.all([
    ask(),
    site.get("email-verifier", "email=new@example.com&max_duration=3"),
  ]);
  expect(overHttp.status).toBe(202);
  expect(JSON.stringify(early)).toBe(overHttp.text);
  expect(early.data).toEqual({ result: null, status: null, score: null, email: "new@example.com" });
  gate.open();
  expect((await ask()).data).toMatchObject({ status: "valid", result: "deliverable" });
  expect(prober.asked).toHaveLength(1);
  expect(await used(site)).toEqual([0, 1]);
});
