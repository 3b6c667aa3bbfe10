import type { Call, Reply } from "../../contracts/call.ts";
import type { Matched } from "../../http/service-shell.ts";
import { DESCRIPTION_PATH } from "../../openapi/description.ts";
import { accountOperation } from "../operations/account.ts";
import { domainSearch } from "../operations/domain-search.ts";
import { emailCount } from "../operations/email-count.ts";
import { emailFinder } from "../operations/email-finder.ts";
import { emailVerifier } from "../operations/email-verifier.ts";
import type { LookupOperation } from "../operations/operation.ts";
import { answerBy, type LookupHttp } from "./answer-request.ts";
import { DECLARED_LOOKUPS, type DeclaredLookup } from "./description/declared-lookups.ts";
import { type LookupErrorId, RefusedRequest } from "./refusal.ts";

/** A row of the route table, used for dispatch, observation and the OpenAPI document. */
export interface LookupRoute extends Matched {
  /** The path below the mount point; a trailing `/*` matches every other path below, and the one above. */
  readonly route: string;
  /** `null`: every method gets the same answer. */
  readonly methods: readonly string[] | null;
  /** Whether the route needs no key. */
  readonly isOpen: boolean;
  /** For the OpenAPI document; `null` for a route that it does not list here. */
  readonly declared: DeclaredLookup | null;
  answer(http: LookupHttp, call: Call): Promise<Reply>;
}

const READ = ["GET", "HEAD", "OPTIONS"];

export const ROUTES: readonly LookupRoute[] = [
  lookupRoute("domain-search", domainSearch),
  lookupRoute("email-finder", emailFinder),
  lookupRoute("email-verifier", emailVerifier),
  lookupRoute("email-count", emailCount, true),
  lookupRoute("account", accountOperation),
  {
    route: DESCRIPTION_PATH,
    methods: READ,
    isOpen: true,
    declared: null,
    answer: async ({ description }, call) => description.reply(call, call.origin + call.mountPath),
  },
  ...[
    ...["people", "companies", "combined", "discover"],
    ...[
      "leads",
      "leads_lists",
      "leads_custom_attributes",
      "campaigns",
      "sequences",
      "reports",
      "email-verifications",
    ],
  ].map((name) =>
    refusedRoute(
      `/v2/${name}/*`,
      "not_implemented",
      `${name}: this lookup answers from its own contacts, buys no data, and keeps no leads or campaigns`,
    ),
  ),
  refusedRoute("/v2/*", "not_found", "There is nothing at this address"),
];

const BY_PATH = new Map(ROUTES.map((each) => [each.route, each]));

/**
 * `undefined`: the path belongs to the host. One trailing slash below `/v2` is ignored. `/V2` and `//v2` are
 * answered with this API's 404.
 */
export function matchRoute(path: string): LookupRoute | undefined {
  if (!/^\/+v2(?:\/|$)/i.test(path)) return path === DESCRIPTION_PATH ? BY_PATH.get(path) : undefined;
  const name = path.endsWith("/") ? path.slice(0, -1) : path;
  return BY_PATH.get(name) ?? BY_PATH.get(name.replace(FIRST_BELOW, "$1/*")) ?? BY_PATH.get("/v2/*");
}

const FIRST_BELOW = /^(\/v2\/[^/]+).*$/s;

function refusedRoute(route: string, id: LookupErrorId, details: string): LookupRoute {
  const answer = () => Promise.reject(new RefusedRequest(id, details));
  return { route, methods: null, isOpen: true, declared: null, answer };
}

function lookupRoute<P, D, E, M extends object>(
  name: keyof typeof DECLARED_LOOKUPS,
  operation: LookupOperation<P, D, E, M>,
  isOpen = false,
): LookupRoute {
  const declared = DECLARED_LOOKUPS[name];
  return { route: `/v2/${name}`, methods: READ, isOpen, declared, answer: answerBy(operation, isOpen) };
}
