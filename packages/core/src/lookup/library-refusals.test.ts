import { describe, expect, test } from "vitest";
import { siteOf, used } from "../../test/lookup-library-site.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import type { Lookup } from "./lookup.ts";
import { createMemoryContactSource } from "./memory/memory-contact-source.ts";

describe("a library call of the lookup", () => {
  test.each<[string, string, string, (lookup: Lookup) => Promise<unknown>]>([
    ["bad_request", "wrong_params", "domain or the company", (it) => it.searchDomain({})],
    ["bad_request", "wrong_params", "at least 3", (it) => it.searchDomain({ company: "ab" })],
    ["bad_request", "wrong_params", "at most 1000", (it) => it.countEmails({ company: "a".repeat(1001) })],
    ["bad_request", "invalid_domain", "not valid", (it) => it.countEmails({ domain: "no" })],
    [
      "bad_request",
      "pagination_error",
      "0 to 100",
      (it) => it.searchDomain({ domain: "a.example", limit: 101 }),
    ],
    [
      "bad_request",
      "invalid_full_name",
      "fullName must have a first",
      (it) => it.findEmail({ domain: "a.example", fullName: "Ada" }),
    ],
    [
      "bad_request",
      "invalid_max_duration",
      "maxDurationMs must be a whole number from 3000 to 20000",
      (it) => it.findEmail({ domain: "a.example", fullName: "Ada Lovelace", maxDurationMs: 3 }),
    ],
    ["bad_request", "wrong_params", "missing the email", (it) => it.verifyEmail("")],
    ["bad_request", "invalid_email", "not valid", (it) => it.verifyEmail("ada")],
    ["not_found", "", "no such account", (it) => it.verifyEmail("a@b.example", { account: "unknown" })],
  ])("rejects with %s %s and the message %s", async (code, id, message, call) => {
    const site = await siteOf();
    const error = await call(site.lookup).catch((failure: unknown) => failure);
    expect(isServiceError(error)).toBe(true);
    expect(error).toMatchObject({ code, ...(id === "" ? {} : { id }) });
    expect(String(error)).toContain(message);
    expect([await used(site), site.errors]).toEqual([[0, 0], []]);
  });

  test("rejects a value of another type, such as unchecked input of a host, with bad_request", async () => {
    const { lookup } = await siteOf();
    const unchecked: [string, object][] = [
      ["wrong_params", { domain: 7 }],
      ["wrong_params", { domain: ["example.com"] }],
      ["wrong_params", { domain: "example.com", type: {} }],
      ["invalid_type", { domain: "example.com", type: "both" }],
      ["invalid_seniority", { domain: "example.com", seniority: "senior" }],
      ["invalid_department", { domain: "example.com", department: [null] }],
      ["wrong_params", { domain: "example.com", requiredField: ["email"] }],
      ["wrong_params", { domain: "example.com", verificationStatus: ["invalid"] }],
      ["wrong_params", { domain: "example.com", jobTitles: "CTO" }],
      ["wrong_params", { domain: "example.com", jobTitles: ["CTO", "!"] }],
      ["pagination_error", { domain: "example.com", limit: "10" }],
    ];
    for (const [id, parameters] of unchecked) {
      await expect(lookup.searchDomain(parameters)).rejects.toMatchObject({ code: "bad_request", id });
    }
    const email: unknown = { toString: () => "a@b.example" };
    await expect(lookup.verifyEmail(email as string)).rejects.toMatchObject({ id: "wrong_params" });
  });

  test("rejects an unknown parameter or option with a TypeError that suggests the nearest name", async () => {
    const { lookup } = await siteOf();
    const misspelt: object = { domain: "example.com", senority: ["senior"] };
    await expect(lookup.searchDomain(misspelt)).rejects.toThrow(/senority .*did you mean seniority\?/);
    const seconds: object = { maxDurationMS: 5 };
    await expect(lookup.verifyEmail("a@b.example", seconds)).rejects.toThrow(TypeError);
    await expect(lookup.verifyEmail("a@b.example", { account: "" })).rejects.toThrow(TypeError);
    const noSignal: object = { signal: {} };
    await expect(lookup.countEmails({ domain: "example.com" }, noSignal)).rejects.toThrow(/an AbortSignal/);
  });

  test("rejects with store_unavailable and its cause if a backend fails, and costs nothing", async () => {
    const cause = new Error("driver");
    const failure = new ServiceError("store_unavailable", "The database is unavailable", { cause });
    const contacts = Object.assign(createMemoryContactSource(), { search: () => Promise.reject(failure) });
    const site = await siteOf({ contacts });
    const { account } = site;
    await expect(site.lookup.searchDomain({ domain: "example.com" }, { account })).rejects.toBe(failure);
    // The caller receives the error; onError receives only failures that a caller cannot see.
    expect([await used(site), site.errors]).toEqual([[0, 0], []]);
  });
});
