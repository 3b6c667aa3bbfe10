import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { createSite } from "../../../test/image-site.ts";
import { roleOf } from "./image-record.ts";
import { decodeRecord, encodeRecord } from "./record-codec.ts";

/** The fields that every record has. */
const RECORD = {
  v: 1,
  id: "Yk3fPq0bT1mVxR8aZ2cLdw",
  name: "photo.png",
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
  owner: null,
  gone: null,
  withheld: null,
  processing: null,
  failure: null,
};

test("a record keeps its look, and a record with another look is damaged", () => {
  const look = { placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5", color: "#7e827f", alpha: false };
  const bytesOf = (fields: object) => Buffer.from(JSON.stringify({ ...RECORD, ...fields }));
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
  for (const changes of [{ size: "1" }, { v: undefined }, { owner: undefined }])
    expect(() => decodeRecord(Buffer.from(JSON.stringify({ ...RECORD, ...changes })))).toThrow(/damaged/);
  for (const text of ["", "7", "{}", '{"v":1,"id":1,"expiresAt":2}'])
    expect(() => decodeRecord(Buffer.from(text), RECORD.id)).toThrow(
      expect.objectContaining({
        code: "damaged",
        message: expect.stringContaining(`${RECORD.id}/record`),
      }),
    );
  const bytes = Buffer.from(JSON.stringify(RECORD));
  expect(() => decodeRecord(bytes, "a".repeat(22))).toThrow(/belongs to another image/);
});

test("the focus of an image survives storage, may be absent, and an invalid one is rejected as damaged", async () => {
  const { store, send } = createSite();
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...RECORD, ...more }));
  const key = `${RECORD.id}/record`;
  const address = `/api/images/${RECORD.id}.json`;
  await store.put(key, encoded({}));
  expect((await send("GET", address)).json).toMatchObject({ focus: null });
  await store.put(key, encoded({ focus: [0.25, 1] }));
  expect((await send("GET", address)).json).toMatchObject({ focus: [0.25, 1] });
  for (const focus of [null, [0.5], [0.5, 2], [0.5, "0"], "0,0"]) {
    expect(() => decodeRecord(encoded({ focus }))).toThrow(expect.objectContaining({ code: "damaged" }));
  }
});

test("description and provenance survive storage, may be absent, and invalid ones are damage", async () => {
  const { store, send } = createSite();
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...RECORD, ...more }));
  const key = `${RECORD.id}/record`;
  const address = `/api/images/${RECORD.id}.json`;
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
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...RECORD, ...more }));
  await store.put(`${RECORD.id}/record`, encoded({ pageSizes }));
  const shown = await send("GET", `/api/images/${RECORD.id}.json`);
  expect(shown).toMatchObject({ status: 200, json: { width: 40 } });
  expect(shown.text).not.toContain("pageSizes");
  expect(decodeRecord(encoded({ pageSizes }))).toMatchObject({ pageSizes });
  for (const wrong of [7, [[1, 2]], [[1, 2, -3]], Array.from({ length: 33 }, () => [1, 2, 3])]) {
    expect(() => decodeRecord(encoded({ pageSizes: wrong }))).toThrow('"pageSizes" is not valid');
  }
});

test("each part of an image has a role, and what is noted of renditions has none: it is neither copied nor verified", () => {
  const id = "Yk3fPq0bT1mVxR8aZ2cLdw";
  expect(["record", "original", "upload", "renditions/png"].map((part) => roleOf(`${id}/${part}`))).toEqual([
    "records",
    "originals",
    "originals",
    "renditions",
  ]);
  expect(roleOf(`${id}/notes`)).toBeNull();
  expect(roleOf("rendition-usage/notes/0.ajvo.017ebe2d1fbb")).toBeNull();
  expect(roleOf("rendition-usage/3f/0.ajvo.0.017ebe2d1fbb")).toBeNull();
});
