import { expect, it } from "vitest";
import { checkOpenFiles } from "./check-open-files.ts";

it("warns below 1024 open files, and says nothing where the system does not tell", () => {
  expect(checkOpenFiles(1024)).toEqual([{ check: "open files", status: "ok", detail: "at most 1024" }]);
  expect(checkOpenFiles(Number.POSITIVE_INFINITY)).toMatchObject([{ status: "ok", detail: "unlimited" }]);
  expect(checkOpenFiles(1023)).toMatchObject([
    {
      status: "warning",
      detail: expect.stringContaining("at most 1023"),
      remedy: expect.stringContaining("ulimit -n"),
    },
  ]);
  expect(checkOpenFiles(null)).toEqual([]);
});

it("reads the soft limit of this process", () => {
  const [finding] = checkOpenFiles();
  expect(finding?.detail).toMatch(/^(?:at most [1-9]\d*|unlimited)/);
});
