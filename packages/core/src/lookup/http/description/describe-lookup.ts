import { describeApi } from "../../../openapi/describe-api.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiPart } from "../../../openapi/document.ts";
import { VERSION } from "../../../openapi/version.ts";
import type { LookupContext } from "../../lookup-context.ts";
import { type LookupFacts, lookupDescriptionRefusals, lookupPart, OTHER_METHODS } from "./lookup-part.ts";

/** The lookup as it is set up, for a description of all that is mounted beside it. */
export function describeLookup(context: Pick<LookupContext, "settings">): ApiPart {
  return lookupPart(factsOf(context));
}

/** What `GET {base}/api/openapi.json` answers. */
export function createLookupDescription(context: Pick<LookupContext, "settings">): Description {
  return createDescription(() => {
    const facts = factsOf(context);
    return describeApi([lookupPart(facts)], {
      version: VERSION,
      refusals: lookupDescriptionRefusals(facts),
      otherMethods: OTHER_METHODS,
    });
  });
}

function factsOf({ settings }: Pick<LookupContext, "settings">): LookupFacts {
  return {
    networkNames: settings.networkNames,
    requiresTls: settings.tls !== "off",
    leavesFailures: settings.errors === "host",
    requestsPerSecond: settings.rate?.limit ?? null,
  };
}
