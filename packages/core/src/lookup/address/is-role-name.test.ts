import fc from "fast-check";
import { expect, test } from "vitest";
import { isRoleName } from "./is-role-name.ts";
import { ROLE_NAMES } from "./role-names.ts";

test("isRoleName knows roles, also with a number, a country, a place or a department", () => {
  const roles =
    "info Sales support2 no-reply do.not.reply human.resources customer-service sales-eu eu-sales info.berlin " +
    "info.mueller admin.de admin2 team-berlin team it.support hr-de press_office kontakt rrhh comptabilite segreteria post";
  expect(roles.split(" ").filter((local) => !isRoleName(local))).toEqual([]);
});

test("isRoleName takes no person for a role", () => {
  const people =
    "salena sales.maria john.sales maria.sales hr.mueller it.van.dijk h.r p.r infante john.smith dev.patel berlin " +
    "eu de.luca ... supporter.jane admin.smith team.kim";
  expect(["", ...people.split(" ")].filter(isRoleName)).toEqual([]);
});

test("the list has at least 150 role names, in the form in which they are compared", () => {
  expect(ROLE_NAMES.size).toBeGreaterThanOrEqual(150);
  for (const name of ROLE_NAMES) {
    expect(name).toMatch(/^[a-z]+$/);
    expect(isRoleName(name)).toBe(true);
  }
});

test("isRoleName answers for any text, and ignores case", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 70 }), (local) => {
      expect(isRoleName(local.toUpperCase())).toBe(isRoleName(local));
    }),
  );
});
