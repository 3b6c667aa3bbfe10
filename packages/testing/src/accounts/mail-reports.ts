import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Accounts, MailReport } from "@outrigger/core/lookup";
import type { PairTest } from "../pair.ts";
import { accountOf, KEY } from "./samples.ts";

/** Reports on mail, and the right of keys to make them. */
export function mailReportsBehaviour(it: PairTest<Accounts>): void {
  it("only a key with the right to report is found and listed with it", async ({ one, another, id }) => {
    await one.create(accountOf(id));
    const [granted, plain] = ["granted", "plain"].map((name) =>
      createHash("sha256")
        .update(id + name)
        .digest("base64url"),
    );
    await one.addKey(id, granted ?? "", { ...KEY, reports: true });
    await one.addKey(id, plain ?? "", KEY);
    assert.deepEqual(await another.findByKey(granted ?? ""), { ...accountOf(id), reports: true });
    assert.deepEqual(await another.findByKey(plain ?? ""), accountOf(id));
    assert.deepEqual(await another.get(id), accountOf(id));
    assert.deepEqual(await another.keys(id), [{ ...KEY, reports: true }, KEY]);
  });

  it("the latest report of each account on an address is kept, the latest first", async (pair) => {
    const { one, another, id } = pair;
    const address = `ann@${domainOf(id)}`;
    const reportOf = (account: string | null, kind: MailReport["kind"], at: number) => ({
      ...{ address, account, kind, at },
    });
    assert.deepEqual(await another.reportsOn?.(address, id, 0), []);
    await one.report?.(reportOf(id, "bounced", 1000));
    await one.report?.(reportOf(null, "delivered", 2000));
    await one.report?.(reportOf(`${id}-other`, "delivered", 3000));
    const all = [reportOf(null, "delivered", 2000), reportOf(id, "bounced", 1000)];
    assert.deepEqual(await another.reportsOn?.(address, id, 0), all);
    assert.deepEqual(await another.reportsOn?.(address, id, 2000), all.slice(0, 1));
    assert.deepEqual(await another.reportsOn?.(address, null, 0), all.slice(0, 1));
    assert.deepEqual(await another.reportsOn?.(`bob@${domainOf(id)}`, id, 0), []);
    await another.report?.(reportOf(id, "delivered", 4000));
    assert.deepEqual(await one.reportsOn?.(address, id, 0), [
      reportOf(id, "delivered", 4000),
      ...all.slice(0, 1),
    ]);
  });

  it("of two reports of the same time, the account's is first", async ({ one, another, id }) => {
    const address = `ann@${domainOf(id)}`;
    for (const account of [id, null]) await one.report?.({ address, account, kind: "bounced", at: 1000 });
    const found = await another.reportsOn?.(address, id, 0);
    assert.deepEqual(
      found?.map(({ account }) => account),
      [id, null],
    );
  });

  it("removeReports deletes those made before, and names each of the operator first", async (pair) => {
    const { one, another, id } = pair;
    const domain = domainOf(id);
    const [old, fresh] = [`old+tag@sub.${domain}`, `fresh@${domain}`];
    for (const account of [id, null]) {
      await one.report?.({ address: old, account, kind: "bounced", at: 1 });
      await one.report?.({ address: fresh, account, kind: "bounced", at: 2 });
    }
    const count = async (address: string) => (await one.reportsOn?.(address, id, 0))?.length;
    const expired: MailReport[] = [];
    const failing = another.removeReports?.(2, () => Promise.reject(new Error("not now")));
    await assert.rejects(async () => failing, /not now/);
    const shared = await one.reportsOn?.(old, null, 0);
    assert.deepEqual(shared, [{ address: old, account: null, kind: "bounced", at: 1 }]);
    await another.removeReports?.(2, async (report) => {
      if (report.address.endsWith(domain)) expired.push(report);
    });
    assert.deepEqual(expired, shared);
    assert.deepEqual([await count(old), await count(fresh)], [0, 2]);
  });

  it("eraseReports deletes those of an address with its subaddresses, or of a domain with its subdomains", async (pair) => {
    const { one, another, id } = pair;
    const domain = domainOf(id);
    const kept = [`anna@${domain}`, `ann@sub.${domain}`, `ann@x${domain}`, `ann@${domain}.example`];
    const erased = [`ann@${domain}`, `ann+news@${domain}`, `ann+@${domain}`];
    const reports = async () => {
      const all = [...kept, ...erased];
      const found = await Promise.all(all.map((address) => another.reportsOn?.(address, id, 0)));
      return all.filter((_, index) => found[index]?.length === 1);
    };
    for (const address of [...kept, ...erased]) {
      await one.report?.({ address, account: id, kind: "bounced", at: 1000 });
    }
    assert.equal(await one.eraseReports?.(`ann@${domain}`), 3);
    assert.deepEqual(await reports(), kept);
    assert.equal(await one.eraseReports?.(domain), 2);
    assert.deepEqual(await reports(), kept.slice(2));
    assert.equal(await one.eraseReports?.(domain), 0);
  });
}

/** A domain that only this case uses. */
function domainOf(id: string): string {
  return `d${createHash("sha256").update(id).digest("hex").slice(0, 20)}.example`;
}
