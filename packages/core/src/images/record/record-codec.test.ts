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

test("optional fields survive storage, may be absent, and invalid ones are rejected as damaged", async () => {
  const { store, send } = createSite();
  const encoded = (more: object) => Buffer.from(JSON.stringify({ ...RECORD, ...more }));
  const read = () => send("GET", `/api/images/${RECORD.id}.json`);
  await store.put(`${RECORD.id}/record`, encoded({}));
  const absent = { focus: null, description: null, provenance: null, placeholder: null, color: null };
  expect((await read()).json).toMatchObject(absent);
  const look = { placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5", color: "#7e827f" };
  const shown = { ...look, focus: [0.25, 1], description: "Two boats.", provenance: true };
  const pageSizes = [
    [1, 40, 30],
    [2, 30, 40],
  ];
  const stored = encodeRecord(decodeRecord(encoded({ ...shown, alpha: false, pageSizes })));
  expect(JSON.parse(String(stored))).toMatchObject({ v: 1, ...shown, alpha: false, pageSizes });
  await store.put(`${RECORD.id}/record`, stored);
  const { json, text } = await read();
  expect(json).toMatchObject({ ...shown, width: 40 });
  expect(text).not.toContain("pageSizes");
  for (const [field, wrongs] of Object.entries({
    placeholder: ["<b>", "A".repeat(37)],
    color: ["red"],
    alpha: [1],
    focus: [null, [0.5], [0.5, 2], [0.5, "0"], "0,0"],
    description: [5, ["x"]],
    provenance: ["yes", false],
    pageSizes: [7, [[1, 2]], [[1, 2, -3]], Array.from({ length: 33 }, () => [1, 2, 3])],
  })) {
    for (const wrong of wrongs) {
      expect(() => decodeRecord(encoded({ [field]: wrong })), field).toThrow(
        expect.objectContaining({
          code: "damaged",
          message: expect.stringContaining(`"${field}" is not valid`),
        }),
      );
    }
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
