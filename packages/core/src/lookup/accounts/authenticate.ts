import type { Account } from "../../contracts/accounts.ts";
import type { Call } from "../../contracts/call.ts";
import { LookupProblem } from "../http/lookup-problem.ts";
import type { Query } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";
import { apiKeyOf, hashApiKey, TEST_KEY } from "./api-key.ts";

/** Who asks: an account, or whoever tries the API with the test key. */
export type Caller = { account: Account; isTest: false } | { account: null; isTest: true };

/** Rejects with `authentication_failed` for who is nobody. Who the host says is somebody needs no key. */
export async function authenticate(context: LookupContext, call: Call, query: Query): Promise<Caller> {
  const { accounts, settings } = context;
  const named = settings.authenticate === null ? null : await settings.authenticate(call);
  if (named !== null && named !== undefined) return { account: named, isTest: false };
  const key = apiKeyOf(call, query);
  if (key === TEST_KEY) return { account: null, isTest: true };
  const account = key === null ? null : await accounts.findByKey(hashApiKey(key));
  if (account !== null) return { account, isTest: false };
  throw new LookupProblem("authentication_failed", "No user found for the API key supplied", {
    "WWW-Authenticate": "Bearer",
  });
}
