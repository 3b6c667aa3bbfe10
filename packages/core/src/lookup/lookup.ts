import type { Service } from "../contracts/call.ts";
import { corsService } from "../http/cors.ts";
import { CLOSE_RULES, createInFlight } from "../http/in-flight.ts";
import { observeService } from "../http/observe-service.ts";
import type { ApiPart } from "../openapi/document.ts";
import { checkOptions } from "../option-rules.ts";
import { createFallbackRateLimiter } from "../stores/fallback-rate-limiter.ts";
import { createMemoryKeyValue } from "../stores/memory/memory-key-value.ts";
import { createMemoryRateLimiter } from "../stores/memory/memory-rate-limiter.ts";
import { createMeter } from "./accounts/meter.ts";
import { createLookupDescription, describeLookup } from "./http/description/describe-lookup.ts";
import { lookupRouteOf } from "./http/lookup-address.ts";
import { createLookupService } from "./http/lookup-service.ts";
import { createLookupAdmin, type LookupAdmin } from "./lookup-admin.ts";
import type { LookupContext } from "./lookup-context.ts";
import { hmacKeysOf } from "./lookup-keys.ts";
import type { LookupOptions } from "./lookup-options.ts";
import { type CheckedOptions, LOOKUP_RULES, lookupSettings } from "./lookup-settings.ts";
import { createSuppressions } from "./suppressions.ts";
import { createVerifier } from "./verify/verifier.ts";

/** Email lookup, ready to be mounted by an adapter. */
export interface Lookup extends Service, LookupAdmin {
  /** This lookup, for the description of an API that it is a part of; see {@link createApiDescription}. */
  describe(): ApiPart;
  /**
   * Resolves when the service can serve: its suppressions are of the given secret. Rejects with what is in the way, `host_misuse`
   * for another secret. Calls do the same check, so it need not be called.
   */
  ready(): Promise<void>;
  /**
   * Answers new requests with 503, waits for those under way, at most `timeoutMs` (10 seconds by default), then ends what it was
   * given. Calling it twice is allowed.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

/**
 * Email lookup over the given data.
 * @throws TypeError for an option out of range.
 * @example
 * const lookup = createLookup({ contacts, accounts, suppressions, secret });
 * app.use("/people", express(lookup));
 */
export function createLookup(options: LookupOptions): Lookup {
  const checked = checkOptions("createLookup", options, LOOKUP_RULES);
  const settings = lookupSettings(checked);
  const { contacts, accounts } = checked;
  const suppressions = createSuppressions(checked.suppressions, checked.secret);
  const limiter =
    checked.rateLimiter === undefined
      ? createMemoryRateLimiter()
      : createFallbackRateLimiter(checked.rateLimiter, settings.onError);
  const verifier = createVerifier({
    prober: checked.prober ?? null,
    lists: checked.lists ?? null,
    cache: checked.cache ?? createMemoryKeyValue(),
    hmacKeys: hmacKeysOf(settings.keys),
    isSuppressed: async (address) => (await suppressions.ofAddress(address)) !== null,
    onError: settings.onError,
  });
  const inFlight = createInFlight();
  const context: LookupContext = {
    contacts,
    accounts,
    suppressions,
    meter: createMeter(accounts, settings),
    verifier,
    limiter,
    inFlight,
    description: createLookupDescription({ settings }),
    settings,
  };
  const service = createLookupService(context);
  const mounted = mountedService(service, checked);
  let closing: Promise<void> | null = null;

  async function close(timeoutMs: number): Promise<void> {
    await inFlight.drain(timeoutMs);
    await verifier.close();
    // The same database may be behind all three.
    for (const part of new Set([contacts, accounts, checked.suppressions])) await part.close();
    await limiter.close();
  }

  return {
    ...createLookupAdmin(context),
    describe: () => describeLookup(context),
    handle: (call) => mounted.handle(call),
    ready: () => suppressions.ready(),
    async close(closeOptions) {
      const { timeoutMs } = checkOptions("close", closeOptions, CLOSE_RULES);
      closing ??= close(timeoutMs);
      await closing;
    },
  };
}

function mountedService(service: Service, { cors, observer }: CheckedOptions): Service {
  const open = cors === undefined ? service : corsService(service, cors);
  return observer === undefined ? open : observeService(open, observer, lookupRouteOf);
}
