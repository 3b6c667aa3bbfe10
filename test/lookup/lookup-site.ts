import {
  createLookup,
  createMemoryAccounts,
  createMemoryContactSource,
  createMemorySuppressionList,
  type Lookup,
  type LookupOptions,
  type MemoryContactSource,
} from "@outrigger/core";
import type { Contact } from "@outrigger/core/lookup";
import { describedReplies } from "../support/described-replies.ts";
import { type HostName, startHost } from "../support/hosts.ts";
import type { Host } from "../support/listen.ts";
import { type Answer, ask } from "./ask.ts";
import { PEOPLE } from "./people.ts";

export interface TestLookup {
  lookup: Lookup;
  contacts: MemoryContactSource;
  /** Key of an account of plan `free`, whose ID is `me`. */
  key: string;
  /** The clock of the lookup. */
  clock: { now: number };
  /** Unexpected failures. */
  errors: unknown[];
}

export interface TestLookupOptions extends Partial<LookupOptions> {
  known?: Contact[];
  organizations?: Record<string, string>;
}

/** A lookup in memory. Rate limits are off by default: a test is one very busy client. */
export async function createTestLookup(options: TestLookupOptions = {}): Promise<TestLookup> {
  const { known = PEOPLE, organizations = { "example.com": "Example Works" }, ...others } = options;
  const contacts = createMemoryContactSource({ contacts: known, organizations });
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const errors: unknown[] = [];
  const lookup = createLookup({
    contacts,
    accounts: createMemoryAccounts(),
    suppressions: createMemorySuppressionList(),
    secret: "a secret of this test, of 32 bytes",
    requestsPerSecond: false,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...others,
  });
  const { key } = await lookup.createAccount({
    id: "me",
    email: "me@example.net",
    firstName: "Me",
    lastName: "Self",
  });
  return { lookup, contacts, key, clock, errors };
}

/** A lookup mounted in a host. */
export interface LookupSite extends TestLookup, Host {
  /** `GET {base}/v2/<operation>?<search>` with the key. */
  get(operation: string, search?: string): Promise<Answer>;
}

export async function startLookupSite(
  options: TestLookupOptions & { host?: HostName; mountPath?: string } = {},
): Promise<LookupSite> {
  const { host = "Express 5", mountPath = "/people", ...others } = options;
  const made = await createTestLookup(others);
  const running = await startHost(host, describedReplies(made.lookup), mountPath);
  return {
    ...made,
    ...running,
    get: (operation, search = "") =>
      ask(`${running.base}/v2/${operation}?api_key=${made.key}${search === "" ? "" : `&${search}`}`),
    async close() {
      await running.close();
      await made.lookup.close();
    },
  };
}
