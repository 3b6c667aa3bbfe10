import { checkOptions, checkValue } from "../check-options.ts";
import { iterable } from "../contract-rules.ts";
import type { Call, Reply, Service } from "../contracts/call.ts";
import { hostRefusal, TLS_RULE, transportRefusal } from "../http/client.ts";
import { CORS_RULE, corsService } from "../http/cors.ts";
import { type Problem, problemReply } from "../http/problem.ts";
import { type Options, shape, url } from "../option-rules.ts";
import { createDescription, DESCRIPTION_PATH } from "./description.ts";
import type { Described } from "./document.ts";
import { PROBLEM_SCHEMA, problemResponse } from "./problems.ts";

const DESCRIBED = shape<Described>(
  "a service with a method describe, such as createImages() and createLookup() return",
  "describe",
);
const RULES = {
  /** That of the services. @default derived from each request */
  publicUrl: url(),
  /** As `tls` of `createImages`. @default "required" */
  tls: TLS_RULE,
  /** Other web origins that may read the description from a browser. @default none */
  cors: CORS_RULE,
};

export interface ApiDescriptionOptions extends Options<typeof RULES> {}

const ALLOW = "GET, HEAD, OPTIONS";

/**
 * One description of several services mounted at the same base, served at `{base}/api/openapi.json`. Mount it
 * before the services; otherwise each service describes only itself.
 * @example
 * app.use("/", express(createApiDescription([images, lookup])), express(images), express(lookup));
 */
export function createApiDescription(
  services: readonly Described[],
  options: ApiDescriptionOptions = {},
): Service {
  const { publicUrl, tls, cors } = checkOptions("createApiDescription", options, RULES);
  checkValue("createApiDescription: services", services, iterable("a list of services"));
  for (const [index, each] of [...services].entries()) {
    checkValue(`createApiDescription: services[${index}]`, each, DESCRIBED);
  }
  const description = createDescription(() => ({
    parts: services.map((each) => each.describe()),
    refusals: {
      400: problemResponse("json", 400, "the request has several Host headers."),
      ...(tls === "off" ? {} : { 403: problemResponse("json", 403, "the connection is not secure.") }),
    },
    schemas: { Problem: PROBLEM_SCHEMA },
  }));
  const service: Service = {
    async handle(call) {
      if (call.path !== DESCRIPTION_PATH) return undefined;
      const fault = hostRefusal(call);
      if (fault !== null) return refusal(call, { status: 400, detail: fault });
      const reason = transportRefusal(call, tls);
      if (reason !== null) return refusal(call, { status: 403, detail: reason });
      if (call.method === "OPTIONS") return { status: 204, headers: { Allow: ALLOW } };
      if (call.method !== "GET" && call.method !== "HEAD") {
        const detail = `Here only ${ALLOW} are permitted.`;
        return refusal(call, { status: 405, detail, headers: { Allow: ALLOW } });
      }
      return description.reply(call, publicUrl?.replace(/\/$/, "") ?? call.origin + call.mountPath);
    },
  };
  return cors === undefined ? service : corsService(service, cors);
}

function refusal(call: Call, problem: Problem): Reply {
  const reply = problemReply(problem, `${call.mountPath}${call.path}`);
  return call.method === "HEAD" ? { status: reply.status, headers: reply.headers } : reply;
}
