import { expect, it } from "vitest";
import { directoryReasonOf, fileReasonOf, reasonOf } from "./error-reason.ts";

function failed(syscall: string, code: string): Error {
  return Object.assign(new Error(`${code}: ${syscall} failed`), { code, syscall });
}

it("reasonOf returns the first line of the innermost cause", () => {
  const cause = new Error("the very reason\nand its details");
  expect(reasonOf(new Error("outer", { cause: new Error("middle", { cause }) }))).toBe("the very reason");
  expect(reasonOf("thrown as it is")).toBe("thrown as it is");
});

it("directoryReasonOf distinguishes missing hard links from missing permission, though both fail with EPERM", () => {
  const message = "The data directory's file system has no hard links";
  for (const code of ["EPERM", "ENOTSUP", "ENOSYS"]) {
    const refusal = new Error(message, { cause: failed("link", code) });
    expect(directoryReasonOf(refusal)).toBe("its file system has no hard links");
  }
  expect(directoryReasonOf(failed("mkdir", "EPERM"))).toBe("this user may not write there");
  expect(directoryReasonOf(failed("link", "ENOSPC"))).toBe("there is no space left");
});

it("fileReasonOf names the state of a file in words, without code, system call and path", () => {
  expect(fileReasonOf(failed("stat", "ENOENT"))).toBe("there is no such file or directory");
  expect(fileReasonOf(failed("open", "EACCES"))).toBe("this user has no access to it");
  expect(fileReasonOf(new Error("it is empty"))).toBe("it is empty");
});
