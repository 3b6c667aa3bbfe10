import type { Contact } from "../contracts/contact-source.ts";
import type { ProbeResult } from "../contracts/mail-prober.ts";
import { type ParsedAddress, parseAddress } from "./address/parse-address.ts";
import type { LookupContext } from "./lookup-context.ts";
import { claimed } from "./lookup-problem.ts";
import { type Candidate, candidatesFor } from "./patterns/candidates-for.ts";

/** Whose address is looked for, and where. */
export interface PersonSought {
  domain: string;
  firstName: string;
  lastName: string;
  /** How long may be asked around, in milliseconds. */
  waitMs: number;
}

export interface FoundAddress {
  address: string;
  /** That it is right, in percent: from 0 to 100. */
  score: number;
  /** As a source knows it; `null` where it is a guess. */
  contact: Contact | null;
  /** What mail servers said of a guess; `null` where they were not asked, or did not answer in time. */
  probe: ProbeResult | null;
}

/** A guess that is less likely is none. */
const LEAST_PROBABILITY = 0.2;
/** Guesses that mail servers are asked about: each question costs the patience of somebody else's server. */
const MAX_PROBED = 3;
/** What is left of doubt when the server has said yes, and no to nonsense. */
const CONFIRMED_SCORE = 97;
/** No guess is surer, as long as nobody has confirmed it. */
const MAX_GUESS_SCORE = 95;

/**
 * The address of a person: one that a source knows, else a guess by how others at the domain are formed, which mail servers
 * are asked about where that is possible. `null` where nothing can be defended. Rejects with `claimed_email` where the person
 * asked to be left out.
 */
export async function findAddress(
  context: LookupContext,
  sought: PersonSought,
): Promise<FoundAddress | null> {
  const { contacts, suppressions } = context;
  const { domain, firstName, lastName } = sought;
  const [known] = await contacts.findByName(domain, firstName, lastName);
  if (known !== undefined) {
    if ((await suppressions.ofAddress(known.address)) !== null) throw claimed();
    return { address: known.address, score: known.confidence, contact: known, probe: null };
  }
  if (context.verifier.isWebmail(domain)) return null;
  const { patterns } = (await contacts.domain(domain)) ?? { patterns: [] };
  const guesses = candidatesFor(firstName, lastName, patterns).flatMap((candidate) => {
    const parsed = parseAddress(`${candidate.local}@${domain}`);
    return parsed === null ? [] : [{ candidate, parsed }];
  });
  const hidden = await suppressions.among(guesses.map(({ parsed }) => parsed.address));
  const [likeliest] = guesses;
  if (likeliest !== undefined && hidden.has(likeliest.parsed.address)) throw claimed();
  const shown = guesses.filter(({ parsed }) => !hidden.has(parsed.address));
  const best = await confirm(context, shown, sought.waitMs);
  // Where nobody's address is known, only a server's word is worth anything.
  return patterns.length === 0 && !isConfirmed(best?.probe ?? null) ? null : best;
}

interface Guess {
  candidate: Candidate;
  parsed: ParsedAddress;
}

/** Asks about the likeliest guesses, one after the other: a refused one makes the others likelier. */
async function confirm(
  { verifier }: LookupContext,
  guesses: readonly Guess[],
  waitMs: number,
): Promise<FoundAddress | null> {
  const deadline = performance.now() + waitMs;
  let refused = 0;
  for (const { candidate, parsed } of guesses.slice(0, MAX_PROBED)) {
    const probability = refused < 1 ? Math.min(1, candidate.probability / (1 - refused)) : 0;
    const leftMs = deadline - performance.now();
    const probe = leftMs > 0 ? await verifier.probe(parsed, leftMs) : null;
    if (probe?.routing === "none" || probe?.routing === "null_mx") return null;
    if (isConfirmed(probe)) return { address: parsed.address, score: CONFIRMED_SCORE, contact: null, probe };
    if (probe?.mailbox !== false) return guess(parsed.address, probability, probe);
    refused += candidate.probability;
  }
  return null;
}

function isConfirmed(probe: ProbeResult | null): boolean {
  return probe?.mailbox === true && probe.acceptsAll === false;
}

function guess(address: string, probability: number, probe: ProbeResult | null): FoundAddress | null {
  if (probability < LEAST_PROBABILITY) return null;
  return { address, score: Math.min(MAX_GUESS_SCORE, Math.round(100 * probability)), contact: null, probe };
}
