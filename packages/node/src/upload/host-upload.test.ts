import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UploadLimits } from "@outrigger/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyHostUpload, findHostFiles } from "./host-upload.ts";

const LIMITS: UploadLimits = {
  fileFields: ["imagedata"],
  maxFileBytes: 1000,
  maxFields: 8,
  maxFieldBytes: 100,
  idleMs: 1000,
  minBytesPerSecond: 0,
};
const BYTES = Buffer.from("some bytes of a picture");
const NEVER = new AbortController().signal;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-spool-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Like formidable's files: an instance with own properties and methods. */
class PersistentFile {
  filepath = "/uploads/x";
  originalFilename = "a.png";
  mimetype = "image/png";
  size = 3;
  toJSON() {
    return {};
  }
}

describe("findHostFiles", () => {
  const expected = { field: "imagedata", name: "a.png", declaredType: "image/png" };
  const onDisk = { ...expected, content: { path: "/uploads/x" } };

  it.each<[string, unknown[], object]>([
    [
      "multer's single file in memory",
      [
        { fieldname: "imagedata", originalname: "a.png", mimetype: "image/png", buffer: BYTES, size: 23 },
        undefined,
      ],
      { ...expected, content: BYTES },
    ],
    [
      "multer's single file on disk",
      [
        {
          fieldname: "imagedata",
          originalname: "a.png",
          mimetype: "image/png",
          path: "/uploads/x",
          destination: "/uploads",
        },
      ],
      onDisk,
    ],
    [
      "multer's list of files",
      [
        undefined,
        [{ fieldname: "imagedata", originalname: "a.png", mimetype: "image/png", path: "/uploads/x" }],
      ],
      onDisk,
    ],
    [
      "multer's files by field",
      [
        {
          imagedata: [
            { fieldname: "imagedata", originalname: "a.png", mimetype: "image/png", path: "/uploads/x" },
          ],
        },
      ],
      onDisk,
    ],
    [
      "a file whose part had no type, which parsers report as text/plain",
      [
        {
          fieldname: "imagedata",
          originalname: "a.png",
          mimetype: "text/plain",
          path: "/uploads/x",
        },
      ],
      { ...onDisk, declaredType: "" },
    ],
    ["formidable's files", [{ imagedata: new PersistentFile() }], onDisk],
    ["formidable's lists of files", [{ imagedata: [new PersistentFile()] }], onDisk],
    [
      "the files of formidable's first version",
      [{ imagedata: { path: "/uploads/x", name: "a.png", type: "Image/PNG; q=1" } }],
      onDisk,
    ],
    [
      "express-fileupload's file in memory",
      [{ imagedata: { name: "a.png", mimetype: "image/png", data: BYTES, tempFilePath: "" } }],
      { ...expected, content: BYTES },
    ],
    [
      "express-fileupload's temporary file",
      [
        {
          imagedata: {
            name: "a.png",
            mimetype: "image/png",
            data: Buffer.alloc(0),
            tempFilePath: "/uploads/x",
          },
        },
      ],
      onDisk,
    ],
  ])("knows %s", (_title, left, file) => {
    expect(findHostFiles(left)).toEqual([file]);
  });

  it("returns a file once that a parser stored in two places", () => {
    const file = { fieldname: "imagedata", originalname: "a.png", mimetype: "image/png", buffer: BYTES };
    expect(findHostFiles([file, [file], { imagedata: [file] }])).toHaveLength(1);
  });

  it("finds an empty file in memory", () => {
    expect(
      findHostFiles([{ fieldname: "imagedata", originalname: "a", buffer: Buffer.alloc(0) }]),
    ).toHaveLength(1);
  });

  it("returns no files for results without files", () => {
    for (const left of [
      [],
      [undefined, null],
      [{}],
      [[]],
      ["text", 7],
      [{ imagedata: "text" }],
      [{ imagedata: {} }],
    ]) {
      expect(findHostFiles(left)).toEqual([]);
    }
  });
});

describe("copyHostUpload", () => {
  const file = { field: "imagedata", name: "a.png", declaredType: "image/png", content: BYTES };

  it("copies and measures the file and reads the text fields", async () => {
    const body = { name: "x", list: ["1", "2"], tree: { a: "b" }, number: 7 };
    const upload = await copyHostUpload([file], body, LIMITS, directory, NEVER);
    expect(await readFile(upload.file.path)).toEqual(BYTES);
    expect(upload.file).toMatchObject({
      size: BYTES.length,
      head: BYTES,
      name: "a.png",
      declaredType: "image/png",
      sha256: createHash("sha256").update(BYTES).digest("hex"),
    });
    expect({ ...upload.fields }).toEqual({ name: "x", list: "2" });
    expect(Object.getPrototypeOf(upload.fields)).toBeNull();
    await upload.file.dispose();
    expect(await readdir(directory)).toEqual([]);
  });

  it("copies a file of the host from disk and leaves the original", async () => {
    const path = join(directory, "host-file");
    await writeFile(path, BYTES);
    const upload = await copyHostUpload(
      [{ ...file, content: { path } }],
      undefined,
      LIMITS,
      directory,
      NEVER,
    );
    expect(upload.file.path).not.toBe(path);
    expect(await readFile(upload.file.path)).toEqual(BYTES);
    await upload.file.dispose();
    expect((await stat(path)).size).toBe(BYTES.length);
  });

  it("rejects the same bodies as a direct upload and leaves no file", async () => {
    const big = { ...file, content: Buffer.alloc(1001) };
    const cases: [Parameters<typeof copyHostUpload>[0], unknown, string][] = [
      [[file, file], {}, "bad_request"],
      [[file, { ...file, field: "other" }], {}, "bad_request"],
      [[{ ...file, field: "other" }], {}, "bad_request"],
      [[big], {}, "too_large"],
      [[file], { name: "x".repeat(101) }, "bad_request"],
    ];
    for (const [files, body, code] of cases) {
      await expect(copyHostUpload(files, body, LIMITS, directory, NEVER)).rejects.toMatchObject({ code });
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it("rejects with host_misuse if the host's file is missing", async () => {
    const gone = { ...file, content: { path: join(directory, "gone") } };
    await expect(copyHostUpload([gone], {}, LIMITS, directory, NEVER)).rejects.toMatchObject({
      code: "host_misuse",
      cause: { code: "ENOENT" },
    });
    expect(await readdir(directory)).toEqual([]);
  });

  it("rejects with the signal's reason after an abort", async () => {
    const reason = new Error("left");
    await expect(copyHostUpload([file], {}, LIMITS, directory, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
    expect(await readdir(directory)).toEqual([]);
  });
});
