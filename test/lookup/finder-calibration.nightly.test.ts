// Nightly: asks for strangers of thousands of generated companies.
import type { Contact } from "@outrigger/core/lookup";
import { expect, onTestFinished, test } from "vitest";
import {
  type Company,
  type Employee,
  generatedCompanies,
  NAME_KINDS,
} from "../support/generated-companies.ts";
import { createTestLookup } from "./lookup-site.ts";
import { personOf } from "./people.ts";

const SEED = 20_000;
const PER_LOCALE = 200;
const ASKED = 2;
const MIN_IN_DECILE = 100;

interface Guess {
  kind: string;
  said: number;
  isRight: boolean;
}

function contactsOf({ known }: Company, domain: string, hasPages: boolean): Contact[] {
  return known.map(({ local, firstName, lastName }: Employee) => {
    const address = `${local}@${domain}`;
    const names = { firstName, lastName, position: null, seniority: null, department: null };
    return personOf(address, { ...names, ...(hasPages ? {} : { confidence: 70, evidence: [] }) });
  });
}

/** What the finder says of each stranger asked for. */
async function guesses(hasPages: boolean): Promise<Guess[]> {
  const companies = [...generatedCompanies(SEED, PER_LOCALE, ASKED)];
  const domainOf = (index: number) => `c${index}.example`;
  const known = companies.flatMap((company, index) => contactsOf(company, domainOf(index), hasPages));
  const { lookup } = await createTestLookup({ known, organizations: {} });
  onTestFinished(() => lookup.close());
  const made: Guess[] = [];
  for (const [index, { asked }] of companies.entries()) {
    const domain = domainOf(index);
    for (const { kind, firstName, lastName, local } of asked) {
      const { data } = await lookup.findEmail({ domain, firstName, lastName });
      // A namesake is no guess.
      if (data.sources.length > 0 || data.position !== null || data.score === 70) continue;
      made.push({ kind, said: data.score, isRight: data.email === `${local}@${domain}` });
    }
  }
  return made;
}

function summary(of: readonly Guess[]) {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    count: of.length,
    said: mean(of.map(({ said }) => said)),
    right: mean(of.map(({ isRight }) => (isRight ? 100 : 0))),
  };
}

/** A table for the message of a failure. */
function tableOf(title: string, rows: readonly (readonly [string, readonly Guess[]])[]): string {
  const lines = rows.map(([name, guesses]) => {
    const { count, said, right } = summary(guesses);
    return `| ${name} | ${count} | ${said.toFixed(1)} | ${right.toFixed(1)} |`;
  });
  return [`| ${title} | questions | mean score | right, % |`, "| --- | --- | --- | --- |", ...lines].join(
    "\n",
  );
}

test.each([
  ["with pages", true],
  ["without pages", false],
])(
  "for contacts %s, the share of right guesses in each decile of scores is within 8 points of the mean score",
  async (_, hasPages) => {
    const all = await guesses(hasPages);
    const found = all.filter(({ said }) => said > 0);
    const deciles = Array.from({ length: 10 }, (_, decile) => {
      const inDecile = found.filter(({ said }) => Math.floor(said / 10) === decile);
      return [`${10 * decile}–${decile === 9 ? 95 : 10 * decile + 9}`, inDecile] as const;
    }).filter(([, { length }]) => length >= MIN_IN_DECILE);
    const kinds = NAME_KINDS.map((kind) => [kind, found.filter((guess) => guess.kind === kind)] as const);
    const printed = [tableOf("score", deciles), tableOf("kind of name", kinds)].join("\n\n");
    expect(summary(all).right, printed).toBeGreaterThan(80);
    expect(deciles.length, printed).toBeGreaterThanOrEqual(6);
    for (const [name, inDecile] of deciles) {
      const { said, right } = summary(inDecile);
      expect(Math.abs(said - right), `${name}:\n${printed}`).toBeLessThanOrEqual(8);
    }
    // Each kind of name has its habits, and each is learned.
    for (const [kind, ofKind] of kinds) {
      const { said, right } = summary(ofKind);
      expect(Math.abs(said - right), `${kind}:\n${printed}`).toBeLessThanOrEqual(9);
      expect(right, `${kind}:\n${printed}`).toBeGreaterThanOrEqual(60);
    }
  },
);
