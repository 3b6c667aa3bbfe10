import { expect, it } from "vitest";
import { checkNode } from "./check-node.ts";

it.each([
  ["18.20.4", "problem"],
  ["20.18.3", "problem"],
  ["20.19.0", "ok"],
  ["21.0.0", "ok"],
  ["22.4.1", "ok"],
])("Node %s: %s", (version, status) => {
  expect(checkNode(version)).toMatchObject({
    check: "Node.js",
    status,
    detail: `${version} (20.19 or newer is needed)`,
  });
});
