import { expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const OWNER = "owner";

test("reserve() gives up with overloaded and a time to retry if the usage keeps changing", async () => {
  const store = createMemoryBlobStore();
  const site = createOwnerSite({
    ...store,
    put: () => Promise.reject(new ServiceError("conflict", "The blob was changed by another process.")),
  });
  await expect(site.start().reserve(OWNER, "a", 1, {})).rejects.toMatchObject({
    code: "overloaded",
    retryAfterMs: expect.any(Number),
  });
});
