// @ts-check
import { randomBytes } from "node:crypto";
import {
  createLookup,
  createMemoryAccounts,
  createMemoryContactSource,
  createMemorySuppressionList,
} from "@outrigger/core";
import { createMailLists } from "@outrigger/verifier";

/**
 * Judges addresses by their form and by lists of domains. With `prober: createMailProber()` of `@outrigger/verifier` it also
 * asks the DNS, and mail servers if that has an identity.
 */
export function createAddressLookup() {
  return createLookup({
    contacts: createMemoryContactSource(),
    accounts: createMemoryAccounts(),
    suppressions: createMemorySuppressionList(),
    lists: createMailLists(),
    // The suppressions do not outlive the process, so neither must their secret.
    secret: randomBytes(32),
  });
}
