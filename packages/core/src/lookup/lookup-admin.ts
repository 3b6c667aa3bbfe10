import { randomUUID } from "node:crypto";
import type { Account, AccountKey, Accounts } from "../contracts/accounts.ts";
import { ServiceError } from "../errors.ts";
import { newApiKey } from "./accounts/api-key.ts";
import { normaliseDomain } from "./address/mail-domain.ts";
import { normaliseAddress, parseAddress } from "./address/parse-address.ts";
import type { LookupContext } from "./lookup-context.ts";

/** A new account. */
export interface NewAccount {
  /** `[A-Za-z0-9_-]{1,64}`; @default random */
  id?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  /** @default "free" */
  plan?: string;
}

/** Accounts, keys and suppressions, for the host app. */
export interface LookupAdmin {
  /** @returns the account and its first key, which cannot be read again. Rejects with `conflict` for an ID that is taken. */
  createAccount(account?: NewAccount): Promise<{ account: Account; key: string }>;
  /** Another key for an account; it cannot be read again. Rejects with `not_found`. */
  createKey(account: string): Promise<string>;
  keys(account: string): Promise<AccountKey[]>;
  /** Revokes the keys of an account that begin with `hint`. @returns how many. */
  revokeKeys(account: string, hint: string): Promise<number>;
  /**
   * Suppresses an address or a whole domain: erases its data, and never again shows, guesses or probes it, even if it is
   * imported again. Rejects with `bad_request` for a text that is neither an address nor a domain.
   */
  suppress(subject: string): Promise<void>;
  /** Lifts a suppression. Erased data stays erased. @returns whether it was suppressed. */
  unsuppress(subject: string): Promise<boolean>;
  /** Erases the data of an address, until it is imported again. @returns whether there was any. */
  erase(address: string): Promise<boolean>;
}

export function createLookupAdmin(context: LookupContext): LookupAdmin {
  const { accounts, contacts, suppressions, verifier, settings } = context;

  async function createKey(account: string): Promise<string> {
    await requireAccount(accounts, account);
    const { key, hash, hint } = newApiKey();
    await accounts.addKey(account, hash, { hint, createdAt: settings.now(), revokedAt: null });
    return key;
  }

  async function erase(subject: string): Promise<boolean> {
    const parsed = parseAddress(subject);
    if (parsed === null) return contacts.eraseDomain(subject);
    await verifier.forget(parsed);
    return contacts.erase(parsed.address);
  }

  return {
    async createAccount(given = {}) {
      const account: Account = {
        id: given.id ?? randomUUID(),
        email: given.email ?? null,
        firstName: given.firstName ?? null,
        lastName: given.lastName ?? null,
        plan: given.plan ?? "free",
        createdAt: settings.now(),
      };
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(account.id)) {
        throw new ServiceError(
          "bad_request",
          "An account's id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
        );
      }
      if (!(await accounts.create(account))) {
        throw new ServiceError("conflict", "There is an account of this id");
      }
      return { account, key: await createKey(account.id) };
    },
    createKey,
    keys: (account) => accounts.keys(account),
    revokeKeys: (account, hint) => accounts.revokeKeys(account, hint, settings.now()),
    async suppress(subject) {
      const normalised = subjectOf(subject);
      // Suppressed first: a suppressed address is never shown, erased or not.
      await suppressions.add(normalised);
      await erase(normalised);
    },
    unsuppress: (subject) => suppressions.remove(subjectOf(subject)),
    async erase(address) {
      const normalised = normaliseAddress(address);
      if (normalised === null) throw new ServiceError("bad_request", "That is not an email address");
      return erase(normalised);
    },
  };
}

/** Rejects with `not_found`. */
export async function requireAccount(accounts: Accounts, id: string): Promise<Account> {
  const account = await accounts.get(id);
  if (account === null) throw new ServiceError("not_found", "There is no such account");
  return account;
}

function subjectOf(text: string): string {
  const subject = text.includes("@") ? normaliseAddress(text) : normaliseDomain(text);
  if (subject === null)
    throw new ServiceError("bad_request", "That is neither an email address nor a domain");
  return subject;
}
