import type { Account } from "../../contracts/accounts.ts";
import type { LookupContext } from "../lookup-context.ts";
import type { Given } from "./given.ts";
import type { LOOKUP_PARAMETERS } from "./parameters.ts";

/** The result of a look-up, as the HTTP API sends it. */
export interface LookupAnswer<D, M> {
  data: D;
  meta: M;
}

/** A result, without the echoed parameters. */
export interface Found<D, M> {
  data: D;
  meta: M;
  /** If the result is pending: when to ask again, in milliseconds. */
  retryAfterMs?: number;
}

/**
 * A look-up operation.
 * @typeParam P its checked parameters.
 * @typeParam E the parameters as echoed in the answer.
 */
export interface LookupOperation<P, D, E, M extends object> {
  readonly parameters: readonly (keyof typeof LOOKUP_PARAMETERS)[];
  /** Checks the parameters without doing work. Rejects with a `LookupProblem`. */
  check(given: Given): P;
  /** Absent parameters are `null`. */
  echo(parameters: P): E;
  /** @param account the account that pays; `null`: the look-up is not counted. */
  work(context: LookupContext, parameters: P, account: Account | null): Promise<Found<D, M>>;
  /** The fixed answer for the test key. */
  sample(context: LookupContext, parameters: P): Found<D, M>;
}

export function answerOf<P, D, E, M extends object>(
  operation: LookupOperation<P, D, E, M>,
  parameters: P,
  { data, meta }: Found<D, M>,
): LookupAnswer<D, M & { params: E }> {
  return { data, meta: { ...meta, params: operation.echo(parameters) } };
}
