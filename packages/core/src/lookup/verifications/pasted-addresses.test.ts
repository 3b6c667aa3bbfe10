import { expect, test, vi } from "vitest";
import { CONFIRMED, siteOf, used } from "../../../test/lookup-library-site.ts";
import { createScriptedProber } from "../../../test/lookup-site.ts";
import { createMemoryVerificationQueue } from "../memory/memory-verification-queue.ts";
import { CLAIMED } from "./row-result.ts";

const PASTED = ["mailto:ada@a.example", "Ada Lovelace <ada@a.example>", "<ADA@a.example>", "ada@a.example"];
const NO_ADDRESSES = ["a b@a.example", "none", "ada@a.example; bob@a.example", "@a.example", ""];

type Lookup = Awaited<ReturnType<typeof siteOf>>["lookup"];

/** The rows of a list once every row has a result. */
async function rowsOf(lookup: Lookup, id: string) {
  const read = async () => (await lookup.verificationList(id)).data;
  await expect.poll(read).toMatchObject({ status: "done" });
  return (await read()).results;
}

test("an address in a link or with a name is verified as the address, and returned as written", async () => {
  const prober = createScriptedProber(async () => CONFIRMED);
  const site = await siteOf({ prober });
  const list = await site.lookup.verifyEmails([...PASTED, ...NO_ADDRESSES]);
  const rows = await rowsOf(site.lookup, list.id);
  expect(rows.map(({ email, status }) => [email, status])).toEqual([
    ...PASTED.map((email) => [email, "valid"]),
    ...NO_ADDRESSES.map((email) => [email, "invalid"]),
  ]);
  expect(new Set(prober.asked)).toEqual(new Set(["ada@a.example"]));
});

test("a text that is no address gets a verdict free of charge, in a list and alone", async () => {
  const site = await siteOf({ prober: createScriptedProber(async () => CONFIRMED) });
  const csv = `email\n${NO_ADDRESSES.filter((text) => text !== "").join("\n")}`;
  const added = await site.send("POST", "/v2/email-verifications", { search: `api_key=${site.key}`, csv });
  expect(added.status).toBe(202);
  const verified = await site.get("email-verifier", `email=${encodeURIComponent("a b@a.example")}`);
  expect(verified.body.data).toMatchObject({ status: "invalid", regexp: false, email: "a b@a.example" });
  expect(await used(site)).toEqual([0, 0]);
  const pasted = await site.get("email-verifier", `email=${encodeURIComponent("Ada <ada@a.example>")}`);
  expect(pasted.body).toMatchObject({
    data: { status: "valid", regexp: true },
    meta: { params: { email: "Ada <ada@a.example>" } },
  });
  expect(await used(site)).toEqual([0, 1]);
});

test("rows of a suppressed person are stored empty, however the address is written, and of others complete", async () => {
  const verifications = createMemoryVerificationQueue();
  const add = vi.spyOn(verifications, "add");
  const site = await siteOf({ verifications, prober: createScriptedProber(async () => CONFIRMED) });
  await site.lookup.suppress("gone.person@a.example");
  await site.lookup.suppress("b.example");
  const csv =
    "email,name,phone\nGone.Person+x@a.example,Gone,1\nmailto:gone.person@a.example,Gone,2\n" +
    '"Gone <gone.person@a.example>",Gone,3\neve@mail.b.example,Eve,4\nada@a.example,Ada,5';
  const { status } = await site.send("POST", "/v2/email-verifications", {
    search: `api_key=${site.key}`,
    csv,
  });
  expect(status).toBe(202);
  const stored = add.mock.calls[0]?.[1].map(({ email, subject, columns, result }) => [
    email,
    subject,
    columns,
    result,
  ]);
  const empty = ["", null, null, CLAIMED];
  expect(stored).toEqual([
    empty,
    empty,
    empty,
    empty,
    ["ada@a.example", "ada@a.example", ["", "Ada", "5"], null],
  ]);
});
