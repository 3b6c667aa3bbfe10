import type { Account } from "../../contracts/accounts.ts";
import type { Call, Reply } from "../../contracts/call.ts";
import { clientKey } from "../../http/client.ts";
import type { Description } from "../../openapi/description.ts";
import { hashApiKey } from "../accounts/api-key.ts";
import type { LookupContext } from "../lookup-context.ts";
import { invalidDomain, isLookupProblem } from "../lookup-problem.ts";
import type { CheckedOptions } from "../lookup-settings.ts";
import { answerOf, type LookupOperation } from "../operations/operation.ts";
import { type Query, readQuery } from "./query.ts";
import { headReply, jsonReply, RefusedRequest, retryAfter } from "./refusal.ts";
import type { RequestTurns } from "./request-turns.ts";

/** The dependencies that the routes of one lookup share. */
export interface LookupHttp {
  lookup: LookupContext;
  /** `null`: without a limit. */
  turns: RequestTurns | null;
  description: Description;
  options: CheckedOptions;
}

/** The account that pays for a request; `null` for a request with the test key, and for an open route. */
interface Caller {
  account: Account | null;
  isTest: boolean;
}

/** The key that gets fixed answers and is not counted. */
const TEST_KEY = "test-api-key";

/**
 * Answers requests with an operation: checks key, rate limit and parameters, then does the work. @param
 * isOpen no key is needed.
 */
export function answerBy<P, D, E, M extends object>(
  operation: LookupOperation<P, D, E, M>,
  isOpen: boolean,
): (http: LookupHttp, call: Call) => Promise<Reply> {
  return async (http, call) => {
    const { lookup } = http;
    // No answer is sent before the list of suppressions is verified.
    await lookup.suppressions.ready();
    const query = readQuery(call.search);
    const caller = isOpen ? await anyone(http, call, query) : await authenticate(http, call, query);
    await countRequest(http, call, caller.account);
    const parameters = operation.check(query);
    if (call.method === "HEAD") return headReply();
    const found = caller.isTest
      ? operation.sample(lookup, parameters)
      : await operation.work(lookup, parameters, caller.account).catch((error) => {
          // Otherwise anybody could test which domains opted out.
          throw isOpen && caller.account === null && isLookupProblem(error, "invalid_domain")
            ? invalidDomain()
            : error;
        });
    const { retryAfterMs } = found;
    const answer = answerOf(operation, parameters, found);
    return retryAfterMs === undefined
      ? jsonReply(200, answer)
      : jsonReply(202, answer, retryAfter(retryAfterMs));
  };
}

/** On open routes too, the test key gets the fixed answer, and a key selects the rate. */
async function anyone({ lookup, options }: LookupHttp, call: Call, query: Query): Promise<Caller> {
  const key = keyOf(call, query);
  if (options.testKey && key === TEST_KEY) return { account: null, isTest: true };
  return { account: key === null ? null : await lookup.accounts.findByKey(hashApiKey(key)), isTest: false };
}

/** Rejects with `authentication_failed`. A request that the host authenticates needs no key. */
async function authenticate(
  { lookup, turns, options }: LookupHttp,
  call: Call,
  query: Query,
): Promise<Caller> {
  const named = (await options.authenticate?.(call)) ?? null;
  if (named !== null) return { account: named, isTest: false };
  const key = keyOf(call, query);
  if (options.testKey && key === TEST_KEY) return { account: null, isTest: true };
  const account = key === null ? null : await lookup.accounts.findByKey(hashApiKey(key));
  if (account !== null) return { account, isTest: false };
  // Otherwise a client could try keys without a limit.
  await countRequest({ turns }, call, null);
  throw new RefusedRequest("authentication_failed", "No user found for the API key supplied", {
    "WWW-Authenticate": "Bearer",
  });
}

/**
 * The key of a request: in the query, as `X-API-KEY`, or as `Authorization: Bearer`; `null` if there is none.
 */
function keyOf({ headers }: Call, query: Query): string | null {
  const given = query.parameter("api_key");
  if (given !== null) return given;
  const header = headers["x-api-key"];
  if (typeof header === "string" && header !== "") return header;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

/**
 * Waits for the turn of a request of an account. Rejects with `rate_limited` if it would wait too long. Without an account, the
 * client's address is counted, and a request over the limit does not wait.
 */
async function countRequest(
  { turns }: Pick<LookupHttp, "turns">,
  call: Call,
  account: Account | null,
): Promise<void> {
  const key = account === null ? `address:${clientKey(call.clientIp)}` : `account:${account.id}`;
  await turns?.take(`lookup:${key}`, account !== null, call.signal);
}
