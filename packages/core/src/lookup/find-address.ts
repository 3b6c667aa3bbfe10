import { isSettledWithin } from "../async/settled-within.ts";
import type { Contact, ContactVerification, PatternCount } from "../contracts/contact-source.ts";
import type { ProbeResult } from "../contracts/mail-prober.ts";
import { isPrivateDomain } from "./address/mail-domain.ts";
import { type ParsedAddress, parseAddress } from "./address/parse-address.ts";
import type { LookupContext } from "./lookup-context.ts";
import { claimed } from "./lookup-problem.ts";
import { type PersonName, plainName } from "./names/plain-name.ts";
import { areContrary, compareNames } from "./names/same-name.ts";
import { hasUsualSpelling } from "./names/transliterate.ts";
import type { FoundDomain } from "./operations/subject.ts";
import { type Candidate, candidatesFor } from "./patterns/candidates-for.ts";
import { verificationOf, verifyAddress } from "./verify/verify-address.ts";

/** The person whose address is sought. */
export interface PersonSought extends FoundDomain {
  /** What is known about the addresses of the domain. */
  patterns: readonly PatternCount[];
  firstName: string;
  lastName: string;
  /** How long mail servers may take, in milliseconds. */
  waitMs: number;
  /** The account on whose behalf; `null` without one. */
  account: string | null;
  /** Called before mail servers are queried. */
  beforeProbing(): Promise<void>;
}

export interface FoundAddress {
  address: string;
  /** The probability that the address is correct, 0 to 100 percent. */
  score: number;
  /** The known contact; `null` for a guess. */
  contact: Contact | null;
  /** The result of probing a guess; `null` if it was not probed, or not in time. */
  probe: ProbeResult | null;
  /** The latest verdict. */
  verification?: ContactVerification | undefined;
}

/** Less likely guesses are dropped. */
const LEAST_PROBABILITY = 0.2;
/** Maximum number of guesses that are probed: each probe is a load on another organisation's server. */
const MAX_PROBED = 3;
/** Maximum number of guesses: among them are those that are suppressed or known to be dead. */
const MAX_CONSIDERED = 8;
/** The score of a guess whose server accepts it and rejects a random address. */
const CONFIRMED_SCORE = 97;
/** The probability that a person whose name has another usual spelling is the one sought. */
const SPELLING_SHARE = 0.9;
/** The same for a person with the names in the other order, or with another number of surnames. */
const OTHER_ORDER_SHARE = 0.75;
/** The highest score of an unconfirmed guess. */
const MAX_GUESS_SCORE = 95;
/**
 * How often guesses of a computed probability are right, in percent, straight between the points. Most organisations have one
 * main pattern, so that a guess is right more often than an even division of their addresses says. See docs/lookup.md.
 */
const COMPUTED = [0, 20, 35, 40, 45, 55, 65, 75, 85, 95];
const RIGHT = [0, 20, 32, 39, 52, 64, 74, 80, 87, 95];

/**
 * The address of a person: a known one, or a guess by the patterns of the domain, confirmed by mail servers
 * if there is a prober. `null` if no guess is likely enough. Rejects with `claimed_email` for a suppressed
 * person.
 */
export async function findAddress(
  context: LookupContext,
  sought: PersonSought,
): Promise<FoundAddress | null> {
  const { contacts, suppressions } = context;
  const { domain, hasSuppressed, patterns, firstName, lastName } = sought;
  const namesakes = await contacts.findByName(domain, firstName, lastName);
  const plain = plainName({ firstName, lastName });
  let known = firstAlive(namesakes);
  if (namesakes.length === 0) {
    // `Lee Adam`: the surname may be first.
    const turned = (await contacts.findByName(domain, plain.lastName, plain.firstName)).filter(
      (contact) => !areContrary(namesOf(contact), sought),
    );
    if (turned.length === 1) known = firstAlive(turned);
  }
  if (known !== undefined) {
    if (hasSuppressed && (await suppressions.ofAddress(known.address)) !== null) throw claimed();
    const { address, verification } = known;
    return { address, score: scoreOf(known, sought), contact: known, probe: null, verification };
  }
  if (isPrivateDomain(context.lists, domain) || !hasUsualSpelling(firstName + lastName)) return null;
  // No guess can be reliable, and none can be of a suppressed person.
  if (patterns.length === 0 && !context.verifier.isProbing && !hasSuppressed) return null;
  const guesses = candidatesFor(plain.firstName, plain.lastName, patterns)
    .slice(0, MAX_CONSIDERED)
    .flatMap((candidate) => {
      const parsed = parseAddress(`${candidate.local}@${domain}`);
      return parsed === null ? [] : [{ candidate, parsed }];
    });
  const addresses = hasSuppressed ? guesses.map(({ parsed }) => parsed.address) : [];
  const hidden = await suppressions.among(addresses);
  const [likeliest] = guesses;
  if (likeliest !== undefined && hidden.has(likeliest.parsed.address)) throw claimed();
  const hasMarks = plain.firstName !== firstName || plain.lastName !== lastName;
  // `john.ingram@` is known as the address of another John Ingram.
  const others = hasMarks ? await contacts.findByName(domain, plain.firstName, plain.lastName) : [];
  const dead = new Set([...namesakes, ...others].map(({ address }) => address));
  const shown = guesses.filter(({ parsed: { address } }) => !hidden.has(address) && !dead.has(address));
  const best = await confirm(context, shown, sought);
  // Without known addresses, only a confirmed guess is reliable.
  return patterns.length === 0 && !isConfirmed(best?.probe ?? null) ? null : best;
}

/** The first whose verdict is not invalid. */
function firstAlive(contacts: readonly Contact[]): Contact | undefined {
  return contacts.find(({ verification }) => verification?.status !== "invalid");
}

/** Its confidence; less if its name is not the one that was asked for. */
function scoreOf(contact: Contact, sought: PersonSought): number {
  const relation = compareNames(namesOf(contact), sought);
  if (relation === "exact") return contact.confidence;
  return Math.floor(contact.confidence * (relation === null ? OTHER_ORDER_SHARE : SPELLING_SHARE));
}

function namesOf({ firstName, lastName }: Contact): PersonName {
  return { firstName: firstName ?? "", lastName: lastName ?? "" };
}

interface Guess {
  candidate: Candidate;
  parsed: ParsedAddress;
}

/** Probes the likeliest guesses one after the other: each rejection makes the others likelier. */
async function confirm(
  context: LookupContext,
  guesses: readonly Guess[],
  { waitMs, account, beforeProbing }: PersonSought,
): Promise<FoundAddress | null> {
  if (context.verifier.isProbing && guesses.length > 0) await beforeProbing();
  const deadline = performance.now() + waitMs;
  let refused = 0;
  for (const { candidate, parsed } of guesses.slice(0, MAX_PROBED)) {
    const probability = refused < 1 ? Math.min(1, candidate.probability / (1 - refused)) : 0;
    // Only a mail server could confirm it.
    if (probability < LEAST_PROBABILITY && !context.verifier.isProbing) return null;
    const leftMs = deadline - performance.now();
    const asked = leftMs > 0 ? verifyAddress(context, { email: parsed.address, parsed, account }) : null;
    const verified = asked !== null && (await isSettledWithin(asked, leftMs)) ? await asked : null;
    const probe = verified?.findings.probe ?? null;
    const verification =
      verified === null ? undefined : (verificationOf(verified, context.settings.now()) ?? undefined);
    if (probe?.routing === "none" || probe?.routing === "null_mx") return null;
    const found = { address: parsed.address, contact: null, probe, verification };
    if (isConfirmed(probe)) return { ...found, score: CONFIRMED_SCORE };
    const isKnownDead = verified?.findings.contact?.verification?.status === "invalid";
    if (probe?.mailbox !== false && !isKnownDead) {
      const score = calibrated(100 * probability);
      return probability < LEAST_PROBABILITY ? null : { ...found, score };
    }
    refused += candidate.probability;
  }
  return null;
}

/** The score of an unconfirmed guess, at most 95. */
function calibrated(percent: number): number {
  const at = COMPUTED.findIndex((each) => each > percent);
  if (at === -1) return MAX_GUESS_SCORE;
  const [from = 0, to = 0, low = 0, high = 0] = [COMPUTED[at - 1], COMPUTED[at], RIGHT[at - 1], RIGHT[at]];
  return Math.round(low + ((high - low) * (percent - from)) / (to - from));
}

function isConfirmed(probe: ProbeResult | null): boolean {
  return probe?.mailbox === true && probe.acceptsAll === false;
}
