import { expect, it } from "vitest";
import { createLookupClient } from "./lookup-client.ts";

it("verifyEmail rejects with the requested wait if that exceeds a minute", async () => {
  const pending = Response.json({ data: {}, meta: {} }, { status: 202, headers: { "Retry-After": "93" } });
  const lookup = createLookupClient({
    ...{ baseUrl: "https://example.com/people", apiKey: "hush" },
    fetch: async () => pending,
  });
  await expect(lookup.verifyEmail("ada@example.com")).rejects.toMatchObject({
    ...{ status: 202, retryAfterMs: 93_000 },
    detail: "The verification is still in progress: retry in 93 seconds",
  });
});
