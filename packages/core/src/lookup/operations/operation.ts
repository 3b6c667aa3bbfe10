import type { Account } from "../../contracts/accounts.ts";
import type { LookupContext } from "../lookup-context.ts";
import type { Given } from "./given.ts";

/** The result of a look-up, as the body of its reply over HTTP. */
export interface LookupAnswer<D, M> {
  data: D;
  meta: M;
}

/** A result, without the parameters that the answer repeats. */
export interface Found<D, M> {
  data: D;
  meta: M;
  /** The result is not known yet: when to ask again, in milliseconds. */
  retryAfterMs?: number;
}

/**
 * One of the look-ups.
 * @typeParam P its checked parameters.
 * @typeParam E the parameters as the answer repeats them.
 */
export interface LookupOperation<P, D, E, M extends object> {
  /** Does no work. Rejects with a `LookupProblem`. */
  check(given: Given): P;
  /** `null` for a parameter that was not given. */
  echo(parameters: P): E;
  /** @param account pays for it; `null`: the look-up is not counted. */
  work(context: LookupContext, parameters: P, account: Account | null): Promise<Found<D, M>>;
  /** The fixed answer to the test key. */
  sample(context: LookupContext, parameters: P): Found<D, M>;
}

export function answerOf<P, D, E, M extends object>(
  operation: LookupOperation<P, D, E, M>,
  parameters: P,
  { data, meta }: Found<D, M>,
): LookupAnswer<D, M & { params: E }> {
  return { data, meta: { ...meta, params: operation.echo(parameters) } };
}
