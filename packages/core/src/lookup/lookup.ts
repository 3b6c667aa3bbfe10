import { checkOptions } from "../check-options.ts";
import type { Service } from "../contracts/call.ts";
import { CLOSE_RULES } from "../http/service-shell.ts";
import type { ApiPart } from "../openapi/document.ts";

import { createFallbackRateLimiter } from "../stores/fallback-rate-limiter.ts";
import { createMemoryKeyValue } from "../stores/memory/memory-key-value.ts";
import { createMemoryRateLimiter } from "../stores/memory/memory-rate-limiter.ts";
import { Meter } from "./accounts/meter.ts";
import { createLookupDescription, describeLookup } from "./http/description/lookup-part.ts";
import { createLookupService } from "./http/lookup-service.ts";
import { RequestTurns } from "./http/request-turns.ts";
import { createLookupLibrary, type LookupLibrary } from "./library.ts";
import { createLookupAdmin, type LookupAdmin } from "./lookup-admin.ts";
import type { LookupContext } from "./lookup-context.ts";
import { hmacKeysOf } from "./lookup-keys.ts";
import { LOOKUP_RULES, type LookupOptions } from "./lookup-options.ts";
import { lookupSettings } from "./lookup-settings.ts";
import { createSuppressions } from "./suppressions.ts";
import { Verifier } from "./verify/verifier.ts";

/** Email lookup: callable from code, and mountable with an adapter. */
export interface Lookup extends Service, LookupAdmin, LookupLibrary {
  /** This lookup's part of an API description; see {@link createApiDescription}. */
  describe(): ApiPart;
  /**
   * Resolves once the service can answer: its suppressions were made with the given secret. Rejects with
   * `host_misuse` for another secret, and with failures of the suppression list. Every call makes the same
   * check, so calling it is optional.
   */
  ready(): Promise<void>;
  /**
   * Rejects new requests with 503 and new calls with `overloaded`, waits at most `timeoutMs` for those in
   * progress (8 seconds by default), then closes the given backends. Calling it twice is allowed.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
}

/**
 * Creates an email lookup on the given data.
 * @throws TypeError for an invalid option.
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
  const lists = checked.lists ?? null;
  const verifier = new Verifier({
    prober: checked.prober ?? null,
    lists,
    cache: checked.cache ?? createMemoryKeyValue(),
    hmacKeys: hmacKeysOf(settings.keys),
    isSuppressed: async (address) => (await suppressions.ofAddress(address)) !== null,
    onError: settings.onError,
  });
  const meter = new Meter(accounts, settings);
  const context: LookupContext = {
    contacts,
    accounts,
    suppressions,
    meter,
    verifier,
    lists,
    settings,
  };
  const described = { ...checked, networkNames: settings.networkNames };
  const description = createLookupDescription(described);
  const { requestsPerSecond } = checked;
  const turns = requestsPerSecond === false ? null : new RequestTurns(limiter, requestsPerSecond);
  const service = createLookupService({ lookup: context, turns, description, options: checked });
  let closing: Promise<void> | null = null;

  async function close(timeoutMs: number): Promise<void> {
    turns?.close();
    await service.drain(timeoutMs);
    await verifier.close();
    await meter.close();
    // All of them may use the same database.
    for (const part of new Set([contacts, accounts, checked.suppressions])) await part.close();
    await limiter.close();
  }

  return {
    ...createLookupAdmin(context),
    ...createLookupLibrary(context, service.run),
    describe: () => describeLookup(described),
    handle: (call) => service.handle(call),
    ready: () => suppressions.ready(),
    async close(closeOptions) {
      const { timeoutMs } = checkOptions("close", closeOptions, CLOSE_RULES);
      closing ??= close(timeoutMs);
      await closing;
    },
  };
}
