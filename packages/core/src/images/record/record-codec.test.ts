import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { createSite } from "../../../test/image-site.ts";
import { roleOf } from "./image-record.ts";
import { decodeRecord, encodeRecord } from "./record-codec.ts";

/** A record of the first version, which had no background processing. */
const OLD_RECORD = {
  id: "Yk3fPq0bT1mVxR8aZ2cLdw",
  name: "old.png",
  type: "image/png",
  size: PNG.length,
  sha256: "00",
  width: 40,
  height: 30,
  pages: 1,
  agent: null,
  createdAt: Date.parse("2026-03-01T11:00:00.000Z"),
  updatedAt: Date.parse("2026-03-01T11:00:00.000Z"),
  expiresAt: Date.parse("2026-03-02T11:00:00.000Z"),
};

test("an image stored by an earlier version is served", async () => {
  const { store, send } = createSite();
  await store.put(`${OLD_RECORD.id}/record`, Buffer.from(JSON.stringify(OLD_RECORD)));
  await store.put(`${OLD_RECORD.id}/original`, PNG);
  const record = await send("GET", `/api/images/${OLD_RECORD.id}.json`);
  expect(record).toMatchObject({ status: 200, json: { name: "old.png", status: "ready" } });
  expect((await send("GET", `/api/images/${OLD_RECORD.id}.png`)).text).toBe(PNG.toString("utf8"));
});

test("a record keeps its look, and a record with another look is damaged", () => {
  const look = { placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5", color: "#7e827f", alpha: false };
  const bytesOf = (fields: object) => Buffer.from(JSON.stringify({ ...OLD_RECORD, ...fields }));
  expect(decodeRecord(encodeRecord(decodeRecord(bytesOf(look))))).toMatchObject(look);
  expect(decodeRecord(bytesOf({}))).not.toHaveProperty("placeholder");
  for (const wrong of [
    { placeholder: "<b>" },
    { placeholder: "A".repeat(37) },
    { color: "red" },
    { alpha: 1 },
  ]) {
    expect(() => decodeRecord(bytesOf(wrong))).toThrow(/is not valid/);
  }
});

test("decodeRecord rejects an invalid record as damaged, with the key of its image", () => {
  for (const text of ["", "7", "{}", '{"id":1,"expiresAt":2}', JSON.stringify({ ...OLD_RECORD, size: "1" })])
    expect(() => decodeRecord(Buffer.from(text), OLD_RECORD.id)).toThrow(
      expect.objectContaining({
        code: "damaged",
        message: expect.stringContaining(`${OLD_RECORD.id}/record`),
      }),
    );
  const bytes = Buffer.from(JSON.stringify(OLD_RECORD));
  expect(() => decodeRecord(bytes, "a".repeat(22))).toThrow(/belongs to another image/);
});

test("the focus of an image survives storage, is absent in old records, and an invalid one is rejected as damaged", async () => {
  const { store, send } = createSite();
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...OLD_RECORD, ...more }));
  const key = `${OLD_RECORD.id}/record`;
  const address = `/api/images/${OLD_RECORD.id}.json`;
  await store.put(key, encoded({}));
  expect((await send("GET", address)).json).toMatchObject({ focus: null });
  await store.put(key, encoded({ focus: [0.25, 1] }));
  expect((await send("GET", address)).json).toMatchObject({ focus: [0.25, 1] });
  for (const focus of [null, [0.5], [0.5, 2], [0.5, "0"], "0,0"]) {
    expect(() => decodeRecord(encoded({ focus }))).toThrow(expect.objectContaining({ code: "damaged" }));
  }
});

test("description and provenance survive storage under version 1, are absent in old records, and invalid ones are damage", async () => {
  const { store, send } = createSite();
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...OLD_RECORD, ...more }));
  const key = `${OLD_RECORD.id}/record`;
  const address = `/api/images/${OLD_RECORD.id}.json`;
  await store.put(key, encoded({}));
  expect((await send("GET", address)).json).toMatchObject({ description: null, provenance: null });
  const fields = { description: "Two boats.", provenance: true } as const;
  await store.put(key, encodeRecord({ ...decodeRecord(encoded({})), ...fields }));
  expect((await send("GET", address)).json).toMatchObject(fields);
  expect(JSON.parse(String(encodeRecord(decodeRecord(encoded(fields)))))).toMatchObject({ v: 1, ...fields });
  for (const wrong of [
    { description: 5 },
    { description: ["x"] },
    { provenance: "yes" },
    { provenance: false },
  ]) {
    expect(() => decodeRecord(encoded(wrong))).toThrow(expect.objectContaining({ code: "damaged" }));
  }
});

test("page sizes are kept in a record and never shown, and invalid ones are rejected as damaged", async () => {
  const { store, send } = createSite();
  const pageSizes = [
    [1, 40, 30],
    [2, 30, 40],
  ];
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...OLD_RECORD, ...more }));
  await store.put(`${OLD_RECORD.id}/record`, encoded({ pageSizes }));
  const shown = await send("GET", `/api/images/${OLD_RECORD.id}.json`);
  expect(shown).toMatchObject({ status: 200, json: { width: 40 } });
  expect(shown.text).not.toContain("pageSizes");
  expect(decodeRecord(encoded({ pageSizes }))).toMatchObject({ pageSizes });
  for (const wrong of [7, [[1, 2]], [[1, 2, -3]], Array.from({ length: 33 }, () => [1, 2, 3])]) {
    expect(() => decodeRecord(encoded({ pageSizes: wrong }))).toThrow('"pageSizes" is not valid');
  }
});

test("each part of an image has a role, and what earlier releases noted of renditions has none: it is neither copied nor verified", () => {
  const id = "Yk3fPq0bT1mVxR8aZ2cLdw";
  expect(
    ["record", "original", "upload", "renditions/png", "failures/png"].map((part) => roleOf(`${id}/${part}`)),
  ).toEqual(["records", "originals", "originals", "renditions", "renditions"]);
  expect(roleOf("rendition-usage/notes/0.ajvo.017ebe2d1fbb")).toBeNull();
  expect(roleOf("rendition-usage/3f/0.ajvo.0.017ebe2d1fbb")).toBeNull();
});

test("only a record whose upload is yet to be converted has version 3", () => {
  const versionOf = (changes: object) => {
    const record = decodeRecord(Buffer.from(JSON.stringify({ ...OLD_RECORD, ...changes })));
    return JSON.parse(String(encodeRecord(record))).v;
  };
  const processing = { tries: 0, leaseUntil: 1, worker: null };
  expect(versionOf({ source: "image/webp", processing })).toBe(3);
  expect(versionOf({ source: "image/webp", warnings: ["colors_reduced"] })).toBe(1);
  expect(versionOf({ processing })).toBe(1);
  expect(versionOf({ source: "image/webp", expiresAt: null })).toBe(2);
});
