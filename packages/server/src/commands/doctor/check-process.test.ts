import { expect, it } from "vitest";
import { checkNode, checkOpenFiles } from "./check-process.ts";

it.each([
  ["18.20.4", "problem"],
  ["20.18.3", "problem"],
  ["20.19.0", "ok"],
  ["21.0.0", "ok"],
  ["22.4.1", "ok"],
])("checkNode rates Node %s as %s", (version, status) => {
  expect(checkNode(version)).toMatchObject({
    check: "Node.js",
    status,
    detail: `${version} (20.19 or newer is needed)`,
  });
});

it("checkOpenFiles warns below 1024 open files, and reports nothing for an unknown limit", () => {
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

it("openFilesLimit reads the soft limit of this process", () => {
  const [finding] = checkOpenFiles();
  expect(finding?.detail).toMatch(/^(?:at most [1-9]\d*|unlimited)/);
});
