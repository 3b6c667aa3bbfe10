import type { Answer } from "./ask.ts";
import { type OperationName, requireDocumented } from "./documented-answer.ts";
import { type LookupSite, startLookupSite } from "./lookup-site.ts";
import { crowdOf, PEOPLE } from "./people.ts";

/** The required parameters of each operation. */
export const VALID: Record<OperationName, Readonly<Record<string, string>>> = {
  "domain-search": { domain: "example.com" },
  "email-finder": { domain: "example.com", first_name: "Ada", last_name: "Lovelace" },
  "email-verifier": { email: "ada.lovelace@example.com" },
  "email-count": { domain: "example.com" },
  account: {},
};

/** A site that answers every request without counting. */
export interface OddSite extends LookupSite {
  /**
   * Sends a valid request with the given changes; `null` omits a parameter. Values are already percent-encoded. Fails
   * if the reply is not as documented.
   */
  askWith(
    operation: OperationName,
    given: Readonly<Record<string, string | null>>,
    tail?: string,
  ): Promise<Answer>;
}

export async function startOddSite(): Promise<OddSite> {
  const site = await startLookupSite({
    known: [...PEOPLE, ...crowdOf("example.org", 20)],
    networkNames: { a: "linkedin", b: "twitter" },
    plans: { free: { searches: false, verifications: false } },
  });
  return {
    ...site,
    async askWith(operation, given, tail = "") {
      const query = Object.entries({ ...VALID[operation], ...given })
        .flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
        .join("&");
      const answer = await site.get(operation, `${query}${tail}`);
      requireDocumented(operation, answer, `${operation} ${query}${tail}`.slice(0, 200));
      return answer;
    },
  };
}
