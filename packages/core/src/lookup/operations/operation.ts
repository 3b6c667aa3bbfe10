import type { Account } from "../../contracts/accounts.ts";
import type { Query } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";

/** What an operation answers. */
export interface Answer {
  /** @default 200 */
  status?: 200 | 202;
  headers?: Record<string, string>;
  data: unknown;
  /** What stands in `meta` beside `params`. */
  meta?: Record<string, unknown>;
}

/** One of the look-ups: a query to parameters, parameters to an answer. */
export interface LookupOperation<P> {
  /** Whether it is answered without a key. @default false */
  isOpen?: boolean;
  /** Rejects with a `LookupProblem` what is wrong. Does no work. */
  parse(query: Query): P;
  /** The parameters as `meta.params` repeats them; `null` where one was not given. */
  echo(parameters: P): Record<string, string | number | null>;
  /** @param account `null` where anybody may ask. */
  work(context: LookupContext, parameters: P, account: Account | null): Promise<Answer>;
  /** The same answer to everybody who tries it with the test key. */
  sample(context: LookupContext, parameters: P): Answer;
}
