import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, storedRecord } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createImageAdmin } from "./image-admin.ts";

/** A logger, and its lines about acts of operators. */
function actLog() {
  const lines: Record<string, unknown>[] = [];
  const info = (fields: object, text: string) => {
    if ("act" in fields) lines.push({ ...fields, text });
  };
  return { lines, logger: { info, warn() {}, error() {} } };
}

test("the log has a line of each act, with its ID, the image, the reason and the operator", async () => {
  const { lines, logger } = actLog();
  const site = createLifeSite({ logger, reports: true, inspect: () => "hold" });
  const other = anotherProcess(site, { logger });
  const ids = [created(await site.create()).id, created(await site.create()).id] as const;
  const [one, two] = ids;
  await site.images.accept(one, { by: "anna" });
  await site.images.refuse(two, "Not here.", { by: "ben" });
  await site.images.withhold(one, { reason: "A claim.", by: "anna" });
  await other.images.release(one, { by: "ben" });
  await site.send("POST", "/api/reports.json", { fields: { id: one, reason: "other" } });
  await site.images.reports.decide(one, { decision: "kept", note: "Old.", by: "anna" });
  await site.images.changeMany([one], (id, { remove }) => remove(id));
  expect(lines.map(({ id, reason, by, text }) => [text, id, reason, by])).toEqual([
    ["image stored", one, undefined, "anna"],
    ["image refused", two, "Not here.", "ben"],
    ["image withheld", one, "A claim.", "anna"],
    ["image released", one, undefined, "ben"],
    ["image kept", one, "Old.", "anna"],
    ["image removed", one, undefined, undefined],
  ]);
  // A release undoes the act that withheld the image.
  expect(lines[3]?.act).toBe(lines[2]?.act);
  expect(new Set(lines.map(({ act }) => act)).size).toBe(5);
  for (const { act } of lines) expect(act).toMatch(/^[\w-]{10,22}$/);
});

test("the log has a line of each denial and each copy of a takedown, with the operator", async () => {
  const { lines, logger } = actLog();
  const site = createLifeSite({ logger });
  const [first, second] = [created(await site.create()).id, created(await site.create()).id];
  const sha256 = createHash("sha256").update("other").digest("hex");
  await site.images.deny({ sha256: sha256.toUpperCase(), reason: "Known abuse.", by: "ana" });
  await site.images.allow({ sha256, by: "ben" });
  await site.images.withhold(first, { reason: "An order.", copies: true, by: "ana" });
  const act = (await storedRecord(site.store, first))?.act?.id;
  const [denied, allowed, ...ofTakedown] = lines;
  expect(denied).toMatchObject({ sha256, reason: "Known abuse.", by: "ana", text: "bytes denied" });
  expect(allowed).toMatchObject({ sha256, by: "ben", text: "bytes allowed" });
  expect(denied?.act).not.toBe(allowed?.act);
  const stored = createHash("sha256").update(PNG).digest("hex");
  expect(ofTakedown).toMatchObject([
    { act, id: first, by: "ana", text: "image withheld" },
    { act, sha256: stored, by: "ana", text: "bytes denied" },
    { act, id: second, by: "ana", text: "image withheld" },
  ]);
});

test("a failed act, and a deletion by the host without a name, are no acts in the log", async () => {
  const { lines, logger } = actLog();
  const site = createLifeSite({ logger });
  const { id } = created(await site.create());
  await site.images.remove(id);
  await expect(site.images.withhold(id, { reason: "Late.", by: "anna" })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(site.images.release(id, { by: " " })).rejects.toThrow(TypeError);
  expect(lines).toEqual([]);
});

test("a deletion whose bytes cannot be removed yet is logged, and its report is decided", async () => {
  const { lines, logger } = actLog();
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  await site.send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
  const store = tapStore(site.store, ({ method, key }) => {
    if (method === "delete" && key === `${id}/original`) throw new ServiceError("store_unavailable", "Away.");
  });
  const storage = { ...store, close: async () => {} };
  const admin = createImageAdmin({ storage, logger, now: () => site.clock.now });
  await expect(admin.remove(id, { by: "anna" })).rejects.toMatchObject({ code: "store_unavailable" });
  expect(lines).toMatchObject([{ id, by: "anna", text: "image removed" }]);
  for await (const { decision } of site.images.reports.list())
    expect(decision).toMatchObject({ decision: "removed", by: "anna" });
});
