import { expect, test } from "vitest";
import { createLookupSite } from "../../../test/lookup-site.ts";
import { ADA, BOUNCE, createReportSite, DELIVERY } from "../../../test/report-site.ts";
import { createMemoryAccounts } from "../memory/memory-accounts.ts";

test("POST /v2/reports needs a key that was granted the right, and each other key answers 403", async () => {
  const { lookup, key, reporting, report, send, statusOf, other } = await createReportSite();
  const fields = { email: ADA, ...BOUNCE };
  expect((await send("POST", "/v2/reports", { fields })).status).toBe(401);
  const refused = await report(fields, key);
  expect(refused.status).toBe(403);
  expect(refused.body.errors).toEqual([
    { id: "forbidden", code: 403, details: expect.stringMatching(/^This key may not report/) },
  ]);
  expect(await statusOf("reporting")).toBe("valid");
  const accepted = await report(fields, reporting);
  expect([accepted.status, accepted.body]).toEqual([
    200,
    { data: { email: ADA, verdict: "invalid" }, meta: { params: fields } },
  ]);
  expect(await statusOf("reporting")).toBe("invalid");
  expect(await statusOf(other)).toBe("valid");
  const second = await lookup.createKey("reporting", { reports: true });
  expect((await report({ email: ADA, ...DELIVERY }, second)).body.data?.verdict).toBe("valid");
  expect((await report(fields, await lookup.createKey("reporting"))).status).toBe(403);
  expect((await lookup.keys("reporting")).map(({ reports = false }) => reports)).toEqual([true, true, false]);
  expect((await send("GET", "/v2/reports", { headers: { "x-api-key": reporting } })).status).toBe(405);
});

test("the same report again changes nothing", async () => {
  const { report, statusOf } = await createReportSite();
  const fields = { email: ADA, ...BOUNCE };
  const first = await report(fields);
  expect((await report(fields)).body).toEqual(first.body);
  expect(await statusOf("reporting")).toBe("invalid");
});

test.each([
  [{}, "wrong_params", "You are missing the email parameter"],
  [{ email: ADA }, "wrong_params", "You are missing the kind parameter"],
  [{ email: "", kind: "bounced" }, "wrong_params", "You are missing the email parameter"],
  [{ email: 7, kind: "bounced" }, "wrong_params", "email must be a string"],
  [{ email: ADA, kind: "opened" }, "wrong_params", "kind must be one of bounced, delivered, complained"],
  [{ email: ADA, kind: ["bounced"] }, "wrong_params", "kind must be a string"],
  [{ email: "unknown", kind: "bounced" }, "invalid_email", "The email address is not valid"],
  [{ email: `${ADA}, b@example.com`, kind: "bounced" }, "invalid_email", "The email address is not valid"],
  [{ email: ADA, kind: "bounced", code: 550 }, "wrong_params", "code must be a string"],
  [{ email: ADA, kind: "bounced", code: "gone" }, "wrong_params", "code must be an enhanced status code"],
  [{ email: ADA, kind: "bounced", code: "5.1.1.1" }, "wrong_params", "code must be an enhanced status code"],
  [{ email: ADA, kind: "bounced", code: "5".repeat(1001) }, "wrong_params", "code must have at most 1000"],
])("a report with %j is refused with the reason", async (fields, id, details) => {
  const { report, lookup } = await createReportSite();
  const { status, body } = await report(fields);
  expect([status, body.errors]).toEqual([
    400,
    [{ id, code: 400, details: expect.stringContaining(details) }],
  ]);
  const { email, ...options } = fields as Record<string, string>;
  const rejected = lookup.report(email as string, options as never);
  await expect(rejected).rejects.toMatchObject({ code: "bad_request", id });
});

test("a body that is no JSON object is refused", async () => {
  const { send, reporting } = await createReportSite();
  const headers = { "x-api-key": reporting };
  expect((await send("POST", "/v2/reports", { headers })).status).toBe(400);
  const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
  const reply = await send("POST", "/v2/reports", { headers: form, fields: { email: ADA, ...BOUNCE } });
  expect(reply.status).toBe(415);
});

test("the test key gets an answer and stores nothing, and an unknown account or option rejects", async () => {
  const accounts = createMemoryAccounts();
  const { report, lookup } = await createReportSite({ accounts });
  const reply = await report({ email: ADA, ...BOUNCE }, "test-api-key");
  expect([reply.status, reply.body.data]).toEqual([200, { email: ADA, verdict: "invalid" }]);
  expect((await report({ email: ADA }, "test-api-key")).status).toBe(400);
  expect(await accounts.reportsOn?.(ADA, null, 0)).toEqual([]);
  await expect(lookup.report(ADA, { ...BOUNCE, account: "unknown" })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(lookup.report(ADA, { ...BOUNCE, owner: "x" } as never)).rejects.toThrow(TypeError);
});

test("a host that authenticates grants the right with its account", async () => {
  const account = { id: "host", email: null, firstName: null, lastName: null, plan: "free", createdAt: 1 };
  for (const [reports, status] of [
    [true, 200],
    [false, 403],
  ] as const) {
    const site = await createLookupSite({ authenticate: () => ({ ...account, reports }) });
    const fields = { email: ADA, ...BOUNCE };
    expect((await site.send("POST", "/v2/reports", { fields })).status).toBe(status);
  }
});
