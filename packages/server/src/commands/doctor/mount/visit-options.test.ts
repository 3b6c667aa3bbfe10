import { expect, it } from "vitest";
import { visitOptionsOf } from "./visit-options.ts";

const URL = "https://example.com/img/";

it("reads what was typed", () => {
  expect(visitOptionsOf(URL, {})).toEqual({ base: "https://example.com/img", headers: {}, patienceMs: 7000 });
  const header = ["Authorization: Bearer a:b", "X-Key:1"];
  expect(visitOptionsOf(URL, { header, patience: "0.5" })).toMatchObject({
    headers: { Authorization: "Bearer a:b", "X-Key": "1" },
    patienceMs: 500,
  });
});

it.each(["-1", "601", "", " ", "soon", "NaN", "1e9"])("refuses a patience of %j", (patience) => {
  expect(() => visitOptionsOf(URL, { patience })).toThrow("--patience: must be seconds, 0 to 600");
});

it.each(["Authorization", "a secret", ": x", "X Key: 1", "X-Key: line\nbreak"])(
  "refuses the header %j without repeating it",
  (header) => {
    expect(() => visitOptionsOf(URL, { header: [header] })).toThrow("--header: must be a header such as");
    expect(() => visitOptionsOf(URL, { header: [header] })).not.toThrow("secret");
  },
);
