import { verificationQueueContract } from "@outrigger/testing";
import { expect, test } from "vitest";
import { createMemoryVerificationQueue } from "./memory-verification-queue.ts";

verificationQueueContract(test, async () => createMemoryVerificationQueue());

test("the lists of one account use at most 80 MiB, and those of all accounts 100 MiB", async () => {
  const queue = createMemoryVerificationQueue();
  const rows = [{ email: "a@a.example", subject: "a@a.example", columns: null, result: null }];
  const size = { bytes: 39 * 1024 * 1024, maxBytes: null };
  const add = (id: string, account: string) =>
    queue.add({ id, account, plan: "free", header: null, createdAt: 0 }, rows, null, size);
  expect([await add("1", "a"), await add("2", "a")]).toEqual([true, true]);
  await expect(add("3", "a")).rejects.toMatchObject({ id: "too_many_requests", retryAfterMs: 86_400_000 });
  await expect(add("4", "b")).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 60_000 });
  size.bytes = 1024 * 1024;
  expect(await add("5", "b")).toBe(true);
  await queue.close();
});
