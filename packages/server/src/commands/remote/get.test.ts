import { expect, it } from "vitest";
import { askedBy, safeFileName } from "./get.ts";

const ID = "Yk3fPq0bT1mVxR8aZ2cLdw";

it.each([
  [
    `https://example.com/img/api/images/${ID}.jpeg?resize=800x&convert=low`,
    "jpg",
    { resize: "800x", convert: "low" },
  ],
  [`https://example.com/api/images/${ID}.webp?convert=auto`, "webp", { convert: "auto" }],
  [`https://example.com/api/images/${ID}.pdf?page=3`, "pdf", { page: "3" }],
  [`https://example.com/api/images/${ID}.json`, undefined, {}],
  [
    `https://example.com/api/images/${ID}.png?preset=thumb&until=5&s=aB`,
    "png",
    { preset: "thumb", s: "aB", until: "5" },
  ],
  [`https://example.com/api/images/${ID}.png?page=0`, "png", { page: "0" }],
  [ID, undefined, {}],
])("askedBy reads format and options from %s", (address, format, options) => {
  expect(askedBy(address)).toEqual({ format, options });
});

it.each([
  ["photo.jpg", "photo.jpg"],
  ["Überraschung 🎉.png", "Überraschung 🎉.png"],
  ["../../etc/passwd", "passwd"],
  ["/etc/cron.d/job.png", "job.png"],
  ["C:\\Windows\\system.ini", "system.ini"],
  ["a/../../b/..", "otherwise"],
  ["..", "otherwise"],
  [".", "otherwise"],
  ["", "otherwise"],
  ["///", "otherwise"],
  [".bashrc", "bashrc"],
  ["-rf", "_rf"],
  ["photo.jpg. . ", "photo.jpg"],
  ['a<b>c:"d|e?f*.png', "a_b_c__d_e_f_.png"],
  ["a\u0000b\u001b[31m\n.png", "a_b_[31m_.png"],
  ["gnp.\u202Eexe.png", "gnp._exe.png"],
  ["CON", "_CON"],
  ["nul.png", "_nul.png"],
  ["console.png", "console.png"],
])("safeFileName turns %j into %j", (name, kept) => {
  expect(safeFileName(name, "otherwise")).toBe(kept);
});

it("safeFileName cuts a long name before its suffix and between characters", () => {
  const name = safeFileName(`${"ü🎉".repeat(100)}.jpeg`, "otherwise");
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  expect(Buffer.byteLength(name)).toBeGreaterThan(190);
  expect(name).toMatch(/^(?:ü🎉)+ü?\.jpeg$/);
});
