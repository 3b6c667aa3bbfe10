import { describe, expect, test } from "vitest";
import { createLookupSite, createScriptedProber, LISTS } from "../../test/lookup-site.ts";

describe("a boolean that was not checked has its reason:", () => {
  const valid = { server: true, mailbox: true, acceptsAll: false };
  test.each([
    ["grace@example.com", {}, null],
    ["grace@example.com", { lists: null }, "no_lists"],
    ["grace@webmail.example", {}, "not_probed"],
    ["grace@webmail.example", { lists: null }, "no_lists"],
    ["grace@webmail.example", { prober: null }, "not_probed"],
    ["grace@trash.example", { prober: null }, "not_probed"],
    ["grace@trash.example", {}, null],
    ["grace@example.com", { prober: null }, "not_probed"],
    ["grace@example.com", { prober: null, lists: null }, "not_probed"],
    ["grace@none.example", {}, "no_mail_server"],
    ["grace@none.example", { lists: null }, "no_mail_server"],
    ["grace..h@example.com", { lists: null }, "local_syntax"],
  ] as const)("%s in a lookup with %j gets the reason %s", async (email, without, reason) => {
    const prober = createScriptedProber(async (address, smtp) => {
      if (address.endsWith("@none.example")) return { routing: "none" };
      return smtp ? valid : { reason: "not_probed" };
    });
    const site = await createLookupSite({
      ...("prober" in without ? {} : { prober }),
      ...("lists" in without ? {} : { lists: LISTS }),
    });
    const { body } = await site.get("email-verifier", `email=${email}`);
    expect(body.data).toMatchObject({ email, reason });
  });
});
