import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { contactOf, createLookupSite, createScriptedProber } from "../../test/lookup-site.ts";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import { ServiceError } from "../errors.ts";
import { createMemoryKeyValue } from "../stores/memory/memory-key-value.ts";
import { deriveLookupKeys } from "./lookup-keys.ts";
import { createMemorySuppressionList } from "./memory/memory-suppression-list.ts";
import { createSuppressions } from "./suppressions.ts";

const [SECRET, OTHER] = ["s".repeat(32), "o".repeat(32)];
const known = [contactOf("ada.lovelace@example.com", { firstName: "Ada", lastName: "Lovelace" })];
const FOUND = { mailbox: true, acceptsAll: false, server: true } as const;

const CALLS = [
  ["domain-search", "domain=example.com"],
  ["email-finder", "domain=example.com&full_name=Ada%20Lovelace"],
  ["email-verifier", "email=ada.lovelace@example.com"],
  ["email-count", "domain=example.com"],
  ["account", ""],
] as const;

/** A list whose queries a test can delay and fail. */
function hindered(list: SuppressionList) {
  const gate = { before: async (): Promise<void> => undefined };
  return {
    gate,
    list: {
      ...list,
      async present(tokens: readonly string[]) {
        await gate.before();
        return list.present(tokens);
      },
    },
  };
}

describe("the option secret", () => {
  test.each([undefined, null, ""])(
    "with the value %j throws a TypeError that says what is required",
    async (secret) => {
      // process.env can yield these values, which JavaScript callers do not type-check.
      const options = { secret } as unknown as { secret: string };
      await expect(createLookupSite(options)).rejects.toThrow(TypeError);
      await expect(createLookupSite(options)).rejects.toThrow(
        /^createLookup: secret (?:is required:|must be) at least 32 bytes/,
      );
    },
  );

  test.each([[[undefined]], [[SECRET, null]], 7, [["short"]]])(
    "with the value %j throws a TypeError that names the option",
    async (secret) => {
      const options = { secret } as unknown as { secret: string };
      await expect(createLookupSite(options)).rejects.toThrow(TypeError);
      await expect(createLookupSite(options)).rejects.toThrow(/^createLookup: secret must/);
    },
  );

  test("that differs from the suppressions' secret makes every call answer 503, and calls onError once", async () => {
    const suppressions = createMemorySuppressionList();
    await createSuppressions(suppressions, OTHER).add("bob@example.org");
    const site = await createLookupSite({ known, suppressions, secret: SECRET });
    await Promise.all(CALLS.map(([operation, search]) => site.get(operation, search)));
    for (const [operation, search] of CALLS) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await site.send(method, `/v2/${operation}`, {
          search: `api_key=${site.key}&${search}`,
        });
        expect(answer.status, operation).toBe(503);
      }
      const sample = await site.send("GET", `/v2/${operation}`, { search: `api_key=test-api-key&${search}` });
      expect([sample.status, sample.body.errors?.[0]?.id]).toEqual([503, "unavailable"]);
    }
    expect(site.errors).toEqual([expect.objectContaining({ code: "host_misuse" })]);
    await expect(site.lookup.ready()).rejects.toMatchObject({ code: "host_misuse" });
    await expect(site.lookup.suppress("ada.lovelace@example.com")).rejects.toMatchObject({
      message: expect.stringContaining("made with another secret"),
    });
  });

  test("as a rotation list finds suppressions made with each of its secrets", async () => {
    const suppressions = createMemorySuppressionList();
    await createSuppressions(suppressions, OTHER).add("ada.lovelace@example.com");
    const site = await createLookupSite({ known, suppressions, secret: [SECRET, OTHER] });
    await site.lookup.ready();
    expect((await site.get("email-verifier", "email=ada.lovelace@example.com")).status).toBe(451);
    expect(await site.lookup.unsuppress("ada.lovelace@example.com")).toBe(true);
    expect((await site.get("email-verifier", "email=ada.lovelace@example.com")).status).toBe(200);
  });

  test("is checked before calls are answered", async () => {
    const { gate, list } = hindered(createMemorySuppressionList());
    let proceed = () => {};
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const free = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    gate.before = () => {
      isAsked();
      return free;
    };
    const site = await createLookupSite({ known, suppressions: list, secret: SECRET });
    const done: number[] = [];
    const answers = CALLS.map(([operation, search]) =>
      site.get(operation, search).then(({ status }) => done.push(status)),
    );
    await asked;
    expect(done).toEqual([]);
    proceed();
    await Promise.all(answers);
    expect(done).toEqual(CALLS.map(() => 200));
  });

  test("is checked again at the next call if the list was unavailable, and calls get 503 until then", async () => {
    const { gate, list } = hindered(createMemorySuppressionList());
    gate.before = async () => {
      throw new ServiceError("store_unavailable", "The database is unavailable");
    };
    const site = await createLookupSite({ known, suppressions: list, secret: SECRET });
    expect((await site.get("account")).status).toBe(503);
    await expect(site.lookup.ready()).rejects.toMatchObject({ code: "store_unavailable" });
    gate.before = async () => undefined;
    expect((await site.get("account")).status).toBe(200);
    expect(await site.lookup.ready()).toBeUndefined();
  });
});

describe("the probe result of a suppressed person", () => {
  test("is no longer returned, even if it was cached before", async () => {
    const prober = createScriptedProber(async () => FOUND);
    const site = await createLookupSite({ prober });
    const search = "email=ada.lovelace@example.com";
    expect((await site.get("email-verifier", search)).body.data).toMatchObject({ status: "valid" });
    await site.lookup.suppress("ada.lovelace@example.com");
    expect((await site.get("email-verifier", search)).status).toBe(451);
    await site.lookup.suppress("example.com");
    await site.lookup.unsuppress("ada.lovelace@example.com");
    expect((await site.get("email-verifier", search)).body.errors?.[0]).toMatchObject({
      id: "invalid_domain",
    });
    expect(prober.asked.length).toBe(1);
  });

  test("is neither returned nor cached if the suppression arrives during the probe", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const prober = createScriptedProber(async () => {
      isAsked();
      await answered;
      return FOUND;
    });
    const kept = createMemoryKeyValue();
    const written: string[] = [];
    const cache = {
      ...kept,
      set: (key: string, value: unknown, ttlMs?: number) => {
        written.push(key);
        return kept.set(key, value, ttlMs);
      },
    };
    const site = await createLookupSite({ prober, cache });
    const verified = site.get("email-verifier", "email=ada.lovelace@example.com");
    await asked;
    await site.lookup.suppress("ada.lovelace@example.com");
    answer();
    expect((await verified).status).toBe(451);
    expect(written).toEqual([]);
  });

  test("is deleted from a shared cache, whichever secret keys it", async () => {
    const cache = createMemoryKeyValue();
    const [{ suppressions: key }] = deriveLookupKeys(OTHER);
    const digest = createHmac("sha256", key).update("probe:ada.lovelace@example.com").digest("base64url");
    await cache.set(`probe:${digest}`, FOUND, 60_000);
    const site = await createLookupSite({ cache, secret: [SECRET, OTHER] });
    await site.lookup.erase("ada.lovelace@example.com");
    expect((await cache.get(`probe:${digest}`)) ?? null).toBeNull();
  });
});
