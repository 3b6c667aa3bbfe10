import { describe, expect, test, vi } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { createLookupSite } from "../../../test/lookup-site.ts";
import { createRecordingObserver } from "../../../test/recording-observer.ts";
import { ServiceError } from "../../errors.ts";
import type { LookupOptions } from "../lookup-options.ts";
import { createMemoryContactSource } from "../memory/memory-contact-source.ts";

describe("lookup failures", () => {
  test("of a source get 503, are reported to onError, and cost nothing", async () => {
    const contacts = Object.assign(createMemoryContactSource(), {
      search: () => Promise.reject(new ServiceError("store_unavailable", "secret words of a driver")),
    });
    const site = await createLookupSite({ contacts });
    const { status, headers, body } = await site.get("domain-search", "domain=example.com");
    expect([status, headers["Retry-After"]]).toEqual([503, "2"]);
    expect(JSON.stringify(body)).not.toContain("secret words");
    expect(site.errors).toHaveLength(1);
    expect((await site.get("account")).body.data).toMatchObject({ calls: { used: 0 } });
  });

  test("that are unexpected get 500 in the API's form, or go to the host", async () => {
    const contacts = Object.assign(createMemoryContactSource(), {
      count: () => Promise.reject(new Error("a bug")),
    });
    const site = await createLookupSite({ contacts });
    const { status, body } = await site.send("GET", "/v2/email-count", { search: "domain=example.com" });
    expect([status, body.errors?.[0]?.id]).toEqual([500, "internal_error"]);
    const hosted = await createLookupSite({ contacts, errors: "host" });
    await expect(
      hosted.lookup.handle(createCall("GET", "/v2/email-count", { search: "domain=example.com" })),
    ).rejects.toThrow("a bug");
  });
});

describe("a failure after the client disconnected", () => {
  async function failWith(failure: Error, signal: AbortSignal) {
    const contacts = Object.assign(createMemoryContactSource(), { count: () => Promise.reject(failure) });
    const observer = createRecordingObserver();
    const site = await createLookupSite({ contacts, observer });
    const { status } = await site.send("GET", "/v2/email-count", { search: "domain=example.com", signal });
    return { status, errors: site.errors, outcomes: observer.ended.map(({ outcome }) => outcome) };
  }
  const left = AbortSignal.abort(new Error("left"));
  const aborted = Object.assign(new Error("This operation was aborted"), { name: "AbortError" });

  test("is not reported if it is an AbortError or the signal's own reason", async () => {
    for (const failure of [aborted, left.reason]) {
      expect(await failWith(failure, left)).toEqual({ status: 400, errors: [], outcomes: ["400"] });
    }
  });

  test("is reported as 500 if it is any other error", async () => {
    const bug = new Error("a bug");
    expect(await failWith(bug, left)).toEqual({ status: 500, errors: [bug], outcomes: ["500"] });
  });

  test("is reported as 500 if it is an AbortError while the client still waits", async () => {
    const { signal } = new AbortController();
    expect(await failWith(aborted, signal)).toEqual({ status: 500, errors: [aborted], outcomes: ["500"] });
  });
});

describe("a failing hook of the host", () => {
  const bug = new Error("the hook's own bug");
  const throwing = () => {
    throw bug;
  };
  const logger = { info: throwing, warn: throwing, error: throwing };

  test.each<[string, Pick<LookupOptions, "onError" | "logger">]>([
    ["onError throws", { onError: throwing }],
    ["onError rejects", { onError: () => Promise.reject(bug) }],
    ["the logger throws", { logger }],
  ])("does not change the reply when %s", async (_, hooks) => {
    const shown = vi.spyOn(console, "error").mockReturnValue(undefined);
    const failures = [new Error("a bug"), new ServiceError("store_unavailable", "away")];
    const contacts = Object.assign(createMemoryContactSource(), {
      count: () => Promise.reject(failures.shift()),
    });
    const site = await createLookupSite({ contacts, onError: undefined, ...hooks } as Partial<LookupOptions>);
    const ask = () => site.send("GET", "/v2/email-count", { search: "domain=example.com" });
    expect([(await ask()).status, (await ask()).status]).toEqual([500, 503]);
    expect(shown.mock.calls).toEqual([[bug], [bug]]);
    shown.mockRestore();
  });
});
