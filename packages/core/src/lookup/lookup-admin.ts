import { randomUUID } from "node:crypto";
import type { Account, AccountKey, Accounts } from "../contracts/accounts.ts";
import { ServiceError } from "../errors.ts";
import { newApiKey } from "./accounts/api-key.ts";
import { normaliseDomain } from "./address/mail-domain.ts";
import { mainAddress, normaliseAddress, parseAddress } from "./address/parse-address.ts";
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
  /**
   * Creates an account. @returns the account and its first key, which cannot be read again. Rejects with
   * `conflict` if the ID exists.
   */
  createAccount(account?: NewAccount): Promise<{ account: Account; key: string }>;
  /** Creates another key for an account; the key cannot be read again. Rejects with `not_found`. */
  createKey(account: string): Promise<string>;
  keys(account: string): Promise<AccountKey[]>;
  /** Revokes the keys of an account that begin with `hint`. @returns the number of revoked keys. */
  revokeKeys(account: string, hint: string): Promise<number>;
  /**
   * Suppresses an address with its subaddresses (`name+tag@domain`), or a domain with its subdomains. The data
   * is erased, and the lookup never shows, guesses or probes it again, even if it is imported again. Rejects
   * with `bad_request` for a text that is neither an address nor a domain.
   */
  suppress(subject: string): Promise<void>;
  /**
   * Removes a suppression, and what keeps the page index from storing an erased subject. Erased data stays erased.
   * @returns whether there was one.
   */
  unsuppress(subject: string): Promise<boolean>;
  /**
   * Erases the data of an address with its subaddresses (a subaddress stands for its address), or of a domain with its subdomains, until it is
   * imported again. The page index does not store it again, unless {@link LookupAdmin.unsuppress} allows it. The logger gets a line with the number of deleted entries and an HMAC of the subject.
   * Rejects with `bad_request` for a text that is neither an address nor a domain.
   * @returns whether there was any data.
   */
  erase(subject: string): Promise<boolean>;
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
    if (parsed !== null) await verifier.forget(parsed);
    const count =
      parsed === null ? await contacts.eraseDomain(subject) : await contacts.erase(parsed.address);
    settings.recordErasure(subject, count);
    return count > 0;
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
          "An account ID has 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
        );
      }
      if (!(await accounts.create(account))) {
        throw new ServiceError("conflict", "An account with this ID already exists");
      }
      return { account, key: await createKey(account.id) };
    },
    createKey,
    keys: (account) => accounts.keys(account),
    revokeKeys: (account, hint) => accounts.revokeKeys(account, hint, settings.now()),
    async suppress(subject) {
      const normalised = mainAddress(subjectOf(subject));
      // Suppressed first, so that the address is hidden even if erasing it fails.
      await suppressions.add(normalised);
      await erase(normalised);
    },
    unsuppress: (subject) => suppressions.remove(subjectOf(subject)),
    async erase(subject) {
      const normalised = mainAddress(subjectOf(subject));
      // Marked first, so that no visit to a page stores it after the erasure.
      await suppressions.markErased(normalised);
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
    throw new ServiceError(
      "bad_request",
      "Neither an email address nor a domain: expected name@domain, or a domain",
    );
  return subject;
}
