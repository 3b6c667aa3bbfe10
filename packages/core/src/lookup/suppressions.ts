import { createHmac } from "node:crypto";
import type { SuppressionList } from "../contracts/suppression-list.ts";

/** What somebody asked for. */
export type Suppressed = "address" | "domain";

/** Who asked to be left out, by address or by domain. Both are normalised. */
export interface Suppressions {
  ofAddress(address: string): Promise<Suppressed | null>;
  /** Whether nothing may be said of a domain (`all`), or not of some who have had addresses there. */
  ofDomain(domain: string): Promise<"all" | "some" | "none">;
  /** Which of at most 100 addresses, or domains, nothing may be told of. */
  among(subjects: readonly string[]): Promise<ReadonlySet<string>>;
  /** @param subject a normalised address, or a domain. */
  add(subject: string): Promise<void>;
  /** @returns whether it was there. */
  remove(subject: string): Promise<boolean>;
}

/** Keeps tokens, HMAC-SHA256 by `secret`: whoever has the list cannot read it, nor try addresses without the secret. */
export function createSuppressions(list: SuppressionList, secret: Buffer): Suppressions {
  const tokenOf = (subject: string) =>
    createHmac("sha256", secret).update(`suppress:${subject}`).digest("base64url");
  /** Of a domain at which somebody asked: where it is not, nobody need be looked for. It stays. */
  const markOf = (domain: string) => tokenOf(`somebody at ${domain}`);
  const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

  return {
    async ofAddress(address) {
      const [own, domains] = [tokenOf(address), tokenOf(domainOf(address))];
      const present = await list.present([own, domains]);
      if (present.has(own)) return "address";
      return present.has(domains) ? "domain" : null;
    },
    async ofDomain(domain) {
      const [all, some] = [tokenOf(domain), markOf(domain)];
      const present = await list.present([all, some]);
      if (present.has(all)) return "all";
      return present.has(some) ? "some" : "none";
    },
    async among(subjects) {
      if (subjects.length === 0) return new Set();
      const tokensOf = new Map(
        subjects.map((subject) => [subject, [tokenOf(subject), tokenOf(domainOf(subject))]]),
      );
      const present = await list.present([...new Set([...tokensOf.values()].flat())]);
      return new Set(
        subjects.filter((subject) => tokensOf.get(subject)?.some((token) => present.has(token))),
      );
    },
    add: (subject) =>
      list.add(subject.includes("@") ? [tokenOf(subject), markOf(domainOf(subject))] : [tokenOf(subject)]),
    remove: async (subject) => (await list.remove([tokenOf(subject)])) > 0,
  };
}
