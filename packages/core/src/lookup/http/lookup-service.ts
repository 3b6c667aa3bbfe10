import type { Account } from "../../contracts/accounts.ts";
import type { Call, Reply, Service } from "../../contracts/call.ts";
import { isServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client-key.ts";
import { transportRefusal } from "../../http/transport.ts";
import { apiKeyOf, TEST_KEY } from "../accounts/api-key.ts";
import { authenticate } from "../accounts/authenticate.ts";
import type { LookupContext } from "../lookup-context.ts";
import { accountOperation } from "../operations/account.ts";
import { domainSearch } from "../operations/domain-search.ts";
import { emailCount } from "../operations/email-count.ts";
import { emailFinder } from "../operations/email-finder.ts";
import { emailVerifier } from "../operations/email-verifier.ts";
import type { Answer, LookupOperation } from "../operations/operation.ts";
import { type LookupAddress, matchLookupAddress, type Operation } from "./lookup-address.ts";
import { headReply, jsonReply, LookupProblem, problemReply } from "./lookup-problem.ts";
import { type Query, readQuery } from "./query.ts";

/** A query to a reply. */
type Route = (context: LookupContext, call: Call, query: Query) => Promise<Reply>;

const ROUTES: Record<Operation, Route> = {
  "domain-search": routeOf(domainSearch),
  "email-finder": routeOf(emailFinder),
  "email-verifier": routeOf(emailVerifier),
  "email-count": routeOf(emailCount),
  account: routeOf(accountOperation),
};

const ALLOW = "GET, HEAD, OPTIONS";

/** The lookup over HTTP: addresses below `/v2` to operations, failures to errors of the API's form. */
export function createLookupService(context: LookupContext): Service {
  return {
    async handle(call) {
      const operation = matchLookupAddress(call.path);
      if (operation === undefined) return undefined;
      if (context.inFlight.isClosing) return refusal(call, CLOSING);
      return context.inFlight.track(handleOurs(context, call, operation));
    },
  };
}

const CLOSING = new LookupProblem("unavailable", "The service is shutting down. Try again later.", {
  "Retry-After": "2",
  Connection: "close",
});

async function handleOurs(context: LookupContext, call: Call, operation: LookupAddress): Promise<Reply> {
  try {
    return await answer(context, call, operation);
  } catch (error) {
    return refusal(call, problemOf(context, call, error));
  }
}

async function answer(context: LookupContext, call: Call, operation: LookupAddress): Promise<Reply> {
  const reason = transportRefusal(call, context.settings.tls);
  if (reason !== null) throw new LookupProblem("forbidden", reason);
  if (operation === "unknown") throw new LookupProblem("not_found", "There is nothing at this address");
  if (call.method === "OPTIONS") return { status: 204, headers: { Allow: ALLOW } };
  if (call.method !== "GET" && call.method !== "HEAD") {
    throw new LookupProblem("method_not_allowed", `Only ${ALLOW} are permitted`, { Allow: ALLOW });
  }
  if (operation === "description") return context.description.reply(call, call.origin + call.mountPath);
  // Of everything else, nothing may be told before it is certain that suppressions are found.
  await context.suppressions.ready();
  return ROUTES[operation](context, call, readQuery(call.search));
}

function routeOf<P>(operation: LookupOperation<P>): Route {
  return async (context, call, query) => {
    const caller = await callerOf(operation, context, call, query);
    await countRequest(context, call, caller.account);
    const parameters = operation.parse(query);
    // Key and parameters are checked, and no work is done.
    if (call.method === "HEAD") return headReply();
    const found = caller.isTest
      ? operation.sample(context, parameters)
      : await operation.work(context, parameters, caller.account);
    return answerReply(found, operation.echo(parameters));
  };
}

/** What anybody may ask needs no key; the test key is one all the same. */
async function callerOf(
  { isOpen = false }: { isOpen?: boolean | undefined },
  context: LookupContext,
  call: Call,
  query: Query,
): Promise<{ account: Account | null; isTest: boolean }> {
  if (!isOpen) return authenticate(context, call, query);
  return { account: null, isTest: apiKeyOf(call, query) === TEST_KEY };
}

function answerReply({ status = 200, headers, data, meta }: Answer, params: object): Reply {
  return jsonReply(status, { data, meta: { ...meta, params } }, false, headers);
}

/** Rejects with `rate_limited` what is one request too many of an account, or of an address without one. */
async function countRequest(
  { limiter, settings }: LookupContext,
  call: Call,
  account: Account | null,
): Promise<void> {
  if (settings.rate === null) return;
  const key = account === null ? `address:${clientKey(call.clientIp)}` : `account:${account.id}`;
  const result = await limiter.consume(`lookup:${key}`, settings.rate);
  if (result.allowed) return;
  const seconds = String(Math.max(1, Math.ceil(result.resetMs / 1000)));
  throw new LookupProblem("rate_limited", `At most ${settings.rate.limit} requests a second`, {
    "Retry-After": seconds,
  });
}

const reported = new WeakSet<Error>();

function refusal(call: Call, problem: LookupProblem): Reply {
  return problemReply(problem, call.method === "HEAD");
}

/** What to tell the client of a failure. One that nobody expected is reported, and the host's where it asked for it. */
function problemOf({ settings }: LookupContext, call: Call, error: unknown): LookupProblem {
  if (error instanceof LookupProblem) return error;
  // Nobody will read the reply, and nothing is wrong with us.
  if (call.signal.aborted && error === call.signal.reason) {
    return new LookupProblem("wrong_params", "The client left before there was a reply");
  }
  if (isServiceError(error)) {
    const isBusy = error.code === "overloaded";
    // A wrong secret is the same error at every call.
    if (!isBusy && !reported.has(error)) settings.onError(error, call);
    reported.add(error);
    const seconds = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 2000) / 1000)));
    const details = isBusy ? error.message : "The data cannot be asked at the moment. Try again later.";
    return new LookupProblem("unavailable", details, { "Retry-After": seconds });
  }
  if (settings.errors === "host") throw error;
  settings.onError(error, call);
  return new LookupProblem("internal_error", "Something unexpected went wrong. Try again later.");
}
