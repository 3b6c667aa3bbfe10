import type { Call, Reply } from "../contracts/call.ts";
import { describeApi } from "../openapi/describe-api.ts";
import { descriptionReply } from "../openapi/description-reply.ts";
import type { ApiPart } from "../openapi/document.ts";
import {
  type LookupFacts,
  lookupDescriptionRefusals,
  lookupPart,
  OTHER_METHODS,
} from "../openapi/lookup-part.ts";
import { VERSION } from "../openapi/version.ts";
import type { LookupContext } from "./lookup-context.ts";

/** The lookup as it is set up, for a description of all that is mounted beside it. */
export function describeLookup(context: Pick<LookupContext, "settings">): ApiPart {
  return lookupPart(factsOf(context));
}

/** `GET HEAD {base}/api/openapi.json`. */
export function lookupDescriptionReply(context: LookupContext, call: Call): Reply {
  const facts = factsOf(context);
  const document = describeApi([lookupPart(facts)], {
    baseUrl: call.origin + call.mountPath,
    version: VERSION,
    refusals: lookupDescriptionRefusals(facts),
    otherMethods: OTHER_METHODS,
  });
  return descriptionReply(call, document);
}

function factsOf({ settings }: Pick<LookupContext, "settings">): LookupFacts {
  return {
    networkNames: settings.networkNames,
    requiresTls: settings.tls !== "off",
    leavesFailures: settings.errors === "host",
    requestsPerSecond: settings.rate?.limit ?? null,
  };
}
