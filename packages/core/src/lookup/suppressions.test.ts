import { expect, test } from "vitest";
import { createMemorySuppressionList } from "../stores/memory-suppression-list.ts";
import { createSuppressions } from "./suppressions.ts";

const SECRET = Buffer.alloc(32, 1);

test("finds who asked to be left out, by address and by domain", async () => {
  const suppressions = createSuppressions(createMemorySuppressionList(), SECRET);
  await suppressions.add("ada@example.com");
  await suppressions.add("example.org");
  const asked = ["ada@example.com", "bob@example.com", "cy@example.org", "di@sub.example.org", "example.org"];
  expect(await suppressions.among(asked)).toEqual(
    new Set(["ada@example.com", "cy@example.org", "example.org"]),
  );
  expect(await suppressions.ofAddress("ada@example.com")).toBe("address");
  expect(await suppressions.ofAddress("cy@example.org")).toBe("domain");
  expect(await suppressions.ofAddress("bob@example.com")).toBeNull();
  const domains = ["example.com", "example.org", "sub.example.org"].map((domain) =>
    suppressions.ofDomain(domain),
  );
  expect(await Promise.all(domains)).toEqual(["some", "all", "none"]);
});

test("whoever takes it back is told of again", async () => {
  const suppressions = createSuppressions(createMemorySuppressionList(), SECRET);
  await suppressions.add("ada@example.com");
  expect(await suppressions.remove("ada@example.com")).toBe(true);
  expect(await suppressions.remove("ada@example.com")).toBe(false);
  expect(await suppressions.ofAddress("ada@example.com")).toBeNull();
});

test("says nothing to who has another secret", async () => {
  const list = createMemorySuppressionList();
  await createSuppressions(list, SECRET).add("ada@example.com");
  expect(await createSuppressions(list, Buffer.alloc(32, 2)).ofAddress("ada@example.com")).toBeNull();
});
