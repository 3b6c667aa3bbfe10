import { expect, test } from "vitest";
import { isSalutation } from "./is-salutation.ts";

test.each([
  ...[
    "Mr.",
    "MRS",
    "Ms",
    "Dr.",
    "Frau",
    "Herr Prof. Dr.",
    "Mr./Mrs.",
    "Mr. & Mrs.",
    "Mme",
    "M.",
    "Señora",
    "Sr.",
    "Srta.",
  ],
  ...[
    "Sig.ra",
    "Dott.ssa",
    "De heer",
    "Dhr.",
    "Pani",
    "г-н",
    "г-жа",
    "先生",
    "Dr. med. dent.",
    "Univ.-Prof.",
    "Hr.",
  ],
])("%s is a salutation", (text) => {
  expect(isSalutation(text)).toBe(true);
});

test.each([
  ...[
    "CEO",
    "HR",
    "Professor",
    "Doctor",
    "Sr. Engineer",
    "Dr. of Sales",
    "Head of IR",
    "",
    "-",
    "Mgr",
    "Med.",
    "Director, MR",
  ],
  ...["Leiter Einkauf", "Miss Universe", "i"],
])("%j is no salutation", (text) => {
  expect(isSalutation(text)).toBe(false);
});
