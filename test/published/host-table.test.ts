import { expect, test } from "vitest";
import { documentedHosts } from "./host-table.ts";
import { NEST_HOST, NEXT_HOST } from "./next-hosts.ts";
import { PLAIN_HOSTS } from "./plain-hosts.ts";

test("the table of docs/mounting.md names the hosts that the matrix runs, and no other", () => {
  expect(documentedHosts()).toEqual([...PLAIN_HOSTS, NEXT_HOST, NEST_HOST].map(({ host }) => host));
});
