import { expect, test } from "vitest";
import { isSalutation } from "./is-salutation.ts";

test("isSalutation knows salutations in several languages", () => {
  const salutations =
    "Mr.|MRS|Ms|Dr.|Frau|Herr Prof. Dr.|Mr./Mrs.|Mr. & Mrs.|Mme|M.|Señora|Sr.|Srta.|Sig.ra|Dott.ssa|De heer|Dhr.|" +
    "Pani|г-н|г-жа|先生|Dr. med. dent.|Univ.-Prof.|Hr.";
  expect(salutations.split("|").filter((text) => !isSalutation(text))).toEqual([]);
});

test("isSalutation takes no position for a salutation", () => {
  const positions =
    "CEO|HR|Professor|Doctor|Sr. Engineer|Dr. of Sales|Head of IR||-|Mgr|Med.|Director, MR|Leiter Einkauf|" +
    "Miss Universe|i";
  expect(positions.split("|").filter(isSalutation)).toEqual([]);
});
