import anyAscii from "any-ascii";
import type { NamedLocal } from "../src/lookup/patterns/learn-patterns.ts";

/** A company with some known addresses, and people whose addresses are unknown. */
export interface SyntheticCompany {
  known: NamedLocal[];
  heldOut: NamedLocal[];
}

/**
 * How often companies use a pattern. These differ from the product's base rates; the last three cannot be
 * written as one of its patterns.
 */
const MIX: readonly (readonly [(first: string, last: string) => string, number])[] = [
  [(first, last) => `${first}.${last}`, 46],
  [(first, last) => `${first.charAt(0)}${last}`, 18],
  [(first) => first, 12],
  [(first, last) => `${first}${last}`, 4],
  [(first, last) => `${first.charAt(0)}.${last}`, 6],
  [(first, last) => `${first}${last.charAt(0)}`, 2.5],
  [(_, last) => last, 2],
  [(first, last) => `${first}_${last}`, 2],
  [(first, last) => `${last}.${first}`, 1.5],
  [(first, last) => `${last}${first.charAt(0)}`, 1],
  [(first, last) => `${first}-${last}`, 0.5],
  [(first, last) => `${first}.${last}.ext`, 0.5],
  [(first, last) => `${first.slice(0, 2)}${last.slice(0, 3)}`, 1.5],
  [(first, last) => `${first.charAt(0)}x${last}`, 1],
  [(first, last) => `${first.charAt(0)}${last.slice(0, 5)}`, 1.5],
];

const CULTURES: readonly (readonly [first: string, last: string])[] = [
  [
    "James Mary Robert Linda Michael Susan David Karen Daniel Emily Andrew Laura Thomas Alice Henry Grace Oliver Megan",
    "Smith Johnson Brown Taylor Wilson Davies Evans Walker Wright Robinson O'Brien O'Connor MacDonald Hughes Clark Turner",
  ],
  [
    "Jürgen Jörg Käthe Anna Lukas Hans-Peter Anne-Marie Karl-Heinz Sabine Uwe Günther Björn Petra Stefan Ute Klaus Monika",
    "Müller Schäfer Köhler Weiß Schmidt Bauer Krüger Böhm Vogel Schröder Fischer Jäger Huber von_Weizsäcker Müller-Schmidt",
  ],
  [
    "José María Lucía Carlos Ana_María Javier Elena Pablo Sofía Miguel Carmen Andrés Raúl Inés Begoña Álvaro",
    "García_Márquez López_Ruiz Fernández Rodríguez Sánchez Núñez Pérez_Gómez Ibáñez Ortiz Castro de_la_Cruz Romero Muñoz Vega",
  ],
  [
    "Jan Pieter Sanne Daan Femke Bram Lotte Joost Marieke Sven Åsa Søren Bjørn Mette Lars Ingrid",
    "van_der_Berg de_Vries Jansen Bakker van_Dijk Visser van_den_Heuvel Smit Lindström Ødegård Åkesson Sørensen Nilsson Hansen",
  ],
  [
    "Krzysztof Zuzanna Łukasz Małgorzata Jiří Tomáš Ana Marko Ivana Đorđe Wojciech Agnieszka Paweł Jana",
    "Wiśniewski Kowalska Nowak Dvořák Novák Horvat Petrović Szczepański Wójcik Jović Lewandowska Čermák Kaczmarek",
  ],
  [
    "Pierre Amélie François Jean-Luc Marie-Claire Hélène Luc Chloé Benoît Élodie Yves Camille Giulia Marco Luca Chiara",
    "Dupont Lefèvre Moreau Dubois Girard d'Angelo Rossi Bianchi de_Luca Le_Gall Bernard Roux Ferrari Conti Martin-Dubois",
  ],
];

/** Companies generated from a seed, always the same: each with a number of known addresses. */
export function* syntheticCompanies(
  seed: number,
  count: number,
  knownCount: number,
  heldOutCount: number,
): Generator<SyntheticCompany> {
  const random = randomOf(seed);
  for (let index = 0; index < count; index += 1) {
    const address = addressesOfCompany(random);
    const people = Array.from({ length: knownCount + heldOutCount }, address);
    yield { known: people.slice(0, knownCount), heldOut: people.slice(knownCount) };
  }
}

/** Returns a generator of addresses for a company's people. */
function addressesOfCompany(random: () => number): () => NamedLocal {
  const main = weighted(random, MIX);
  const former = weighted(random, MIX);
  // Some companies acquired another with its own address style, or changed their style once.
  const formerShare = random() < 0.3 ? 0.05 + 0.4 * random() : 0;
  const exceptionShare = 0.08 * random();
  const home = pick(random, CULTURES);
  const speltOut = random() < 0.6 ? /[äöü]/g : random() < 0.4 ? /[äöüøå]/g : /$^/g;
  const joining = joiningOf(random);
  return () => {
    const [firstNames, lastNames] = random() < 0.8 ? home : pick(random, CULTURES);
    const firstName = pick(random, firstNames.split(" ")).replaceAll("_", " ");
    const lastName = pick(random, lastNames.split(" ")).replaceAll("_", " ");
    // Most addresses follow the company's style for names of several words; some have their own.
    const join = random() < 0.7 ? joining : joiningOf(random);
    const first = join.first(plain(firstName, speltOut));
    const last = join.last(plain(lastName, speltOut));
    if (random() < exceptionShare) {
      return { firstName, lastName, local: exception(random, first, last) };
    }
    const form = random() < formerShare ? former : main;
    return { firstName, lastName, local: form(first, last) };
  };
}

/** Homonyms, nicknames, middle initials, and people who chose their own address. */
function exception(random: () => number, first: string, last: string): string {
  return pick(random, [
    `${first}.${last}${2 + Math.floor(8 * random())}`,
    `${first.charAt(0)}.${pick(random, [..."abcdefghjklmnprstw"])}.${last}`,
    `${first.slice(0, 3)}y`,
    weighted(random, MIX)(first, last),
  ]);
}

function joiningOf(random: () => number) {
  const first = weighted(random, [
    [(name: string) => name.replace(/[ -].*/, ""), 45],
    [(name: string) => name.replace(/[ -]/g, ""), 30],
    [(name: string) => name.replace(/ /g, "-"), 25],
  ]);
  const particles = weighted(random, [
    [(name: string) => name.replace(/ /g, ""), 70],
    [(name: string) => name.replace(/^.* /, ""), 18],
    [(name: string) => name.replace(/ /g, "-"), 7],
    [(name: string) => name.replace(/ /g, "."), 5],
  ]);
  const double = weighted(random, [
    [(name: string) => name.replace(/[ -].*/, ""), 45],
    [(name: string) => name.replace(/[ -]/g, ""), 25],
    [(name: string) => name.replace(/ /g, "-"), 25],
    [(name: string) => name.replace(/^.*[ -]/, ""), 5],
  ]);
  const last = (name: string) => (/^(?:van|von|de|le) /.test(name) ? particles(name) : double(name));
  return { first, last };
}

/** @param speltOut the letters that are written as two: `ü` becomes `ue`, `å` becomes `aa`. */
function plain(name: string, speltOut: RegExp): string {
  const lower = name.toLowerCase().replaceAll("'", "");
  return anyAscii(lower.replace(speltOut, (letter) => anyAscii(letter) + (letter === "å" ? "a" : "e")));
}

function pick<Value>(random: () => number, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) {
    throw new Error("nothing to pick from");
  }
  return value;
}

function weighted<Value>(random: () => number, choices: readonly (readonly [Value, number])[]): Value {
  let rest = random() * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of choices) {
    rest -= weight;
    if (rest < 0) {
      return value;
    }
  }
  throw new Error("nothing to choose from");
}

/** Mulberry32: numbers from 0 up to 1, always the same sequence for a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
