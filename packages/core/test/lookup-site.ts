import assert from "node:assert/strict";
import { afterEachTest } from "../../../test/support/hooks.ts";
import type { Contact } from "../src/contracts/contact-source.ts";
import type { MailLists, MailProber, ProbeResult } from "../src/contracts/mail-prober.ts";
import { createLookup, type Lookup } from "../src/lookup/lookup.ts";
import type { LookupOptions } from "../src/lookup/lookup-options.ts";
import { createMemoryAccounts } from "../src/lookup/memory/memory-accounts.ts";
import {
  createMemoryContactSource,
  type MemoryContactSource,
} from "../src/lookup/memory/memory-contact-source.ts";
import { createMemorySuppressionList } from "../src/lookup/memory/memory-suppression-list.ts";
import { type CallOptions, createCall } from "./calls.ts";

/** A reply with its body read. */
export interface LookupAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** The body as sent; `{}` if it is empty. */
  text: string;
  // Tests read the documented fields, and fail if one is missing.
  body: {
    data?: Record<string, unknown>;
    meta?: Record<string, unknown>;
    errors?: Record<string, unknown>[];
  };
}

export interface LookupSite {
  lookup: Lookup;
  contacts: MemoryContactSource;
  clock: { now: number };
  errors: unknown[];
  /** The key of an account with the plan `free`. */
  key: string;
  account: string;
  /** `GET /v2/<operation>?<search>`, with the key. */
  get(operation: string, search?: string, options?: CallOptions): Promise<LookupAnswer>;
  send(method: string, path: string, options?: CallOptions): Promise<LookupAnswer>;
}

const NOON = Date.parse("2026-03-01T12:00:00.000Z");
const open = new Set<Lookup>();

afterEachTest(async () => {
  for (const lookup of open) await lookup.close();
  open.clear();
});

export async function createLookupSite(
  options: Partial<LookupOptions> & { known?: Contact[]; organizations?: Record<string, string> } = {},
): Promise<LookupSite> {
  const { known = [], organizations = {}, ...others } = options;
  const contacts = createMemoryContactSource({ contacts: known, organizations });
  const clock = { now: NOON };
  const errors: unknown[] = [];
  const lookup = createLookup({
    contacts,
    accounts: createMemoryAccounts(),
    suppressions: createMemorySuppressionList(),
    secret: "0123456789abcdef0123456789abcdef",
    requestsPerSecond: false,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...others,
  });
  open.add(lookup);
  const { account, key } = await lookup.createAccount({ email: "me@example.net", firstName: "Me" });
  const send: LookupSite["send"] = async (method, path, callOptions) => {
    const reply = await lookup.handle(createCall(method, path, callOptions));
    assert.ok(reply, `${method} ${path} is outside the service`);
    const text = reply.body === undefined ? "{}" : String(reply.body);
    return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text) };
  };
  return {
    ...{ lookup, contacts, clock, errors, key, account: account.id, send },
    get: (operation, search = "", callOptions = {}) =>
      send("GET", `/v2/${operation}`, { ...callOptions, search: `api_key=${key}&${search}` }),
  };
}

/** A person at example.com with one page of evidence; `more` overrides fields. */
export function contactOf(address: string, more: Partial<Contact> = {}): Contact {
  return {
    address,
    type: "personal",
    confidence: 80,
    firstName: null,
    lastName: null,
    position: null,
    seniority: null,
    department: null,
    networkA: null,
    networkAUrl: null,
    networkB: null,
    phoneNumber: null,
    evidence: [
      {
        domain: "example.com",
        uri: `https://example.com/team/${address.length}`,
        extractedOn: "2025-06-01",
        lastSeenOn: "2026-02-01",
        stillOnPage: true,
      },
    ],
    ...more,
  };
}

/** A prober that answers as the test says; a real one cannot be made to hang at will. */
export function createScriptedProber(
  answer: (address: string, smtp: boolean, signal: AbortSignal) => Promise<Partial<ProbeResult>>,
): MailProber & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async probe(local, domain, { smtp, signal }) {
      asked.push(`${local}@${domain}`);
      return { ...NOTHING, ...(await answer(`${local}@${domain}`, smtp, signal)) };
    },
    close: async () => undefined,
  };
}

const NOTHING: ProbeResult = {
  routing: "found",
  server: null,
  mailbox: null,
  acceptsAll: null,
  reason: null,
  retryAfterMs: null,
};

export const LISTS: MailLists = {
  isWebmail: (domain) => domain === "webmail.example",
  isDisposable: (domain) => domain === "trash.example",
  suggestDomain: (domain) => (domain === "webmial.example" ? "webmail.example" : null),
};
