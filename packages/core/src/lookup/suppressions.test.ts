import { expect, test } from "vitest";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import { createMemorySuppressionList } from "./memory/memory-suppression-list.ts";
import { haveSameMarkers } from "./suppression-markers.ts";
import { createSuppressions } from "./suppressions.ts";

const [SECRET, OTHER, THIRD] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const MISUSE = { code: "host_misuse", message: expect.stringContaining("made with another secret") };

/** A list that counts its queries. */
function counted(list: SuppressionList) {
  const queries: number[] = [];
  return {
    ...list,
    queries,
    present: (tokens: readonly string[]) => {
      queries.push(tokens.length);
      return list.present(tokens);
    },
  };
}

test("createSuppressions finds suppressed people by address and by domain", async () => {
  const suppressions = createSuppressions(createMemorySuppressionList(), SECRET);
  await suppressions.add("ada@example.com");
  await suppressions.add("example.org");
  const asked = ["ada@example.com", "bob@example.com", "cy@example.org", "di@sub.example.org", "example.org"];
  expect(await suppressions.among(asked)).toEqual(
    new Set(["ada@example.com", "cy@example.org", "di@sub.example.org", "example.org"]),
  );
  expect(await suppressions.ofAddress("ada@example.com")).toBe("address");
  expect(await suppressions.ofAddress("cy@example.org")).toBe("domain");
  expect(await suppressions.ofAddress("bob@example.com")).toBeNull();
  const domains = ["example.com", "example.org", "sub.example.org"].map((domain) =>
    suppressions.ofDomain(domain),
  );
  expect(await Promise.all(domains)).toEqual(["some", "all", "all"]);
  expect(await suppressions.ofDomain("org")).toBe("none");
  expect(await suppressions.ofDomain("not-example.org")).toBe("none");
});

test("an erased subject is barred from the page index with all that it covers, is not suppressed, and can be admitted again", async () => {
  const suppressions = createSuppressions(createMemorySuppressionList(), SECRET);
  await suppressions.markErased("ada+news@example.com");
  await suppressions.markErased("example.org");
  await suppressions.add("bob@example.com");
  const asked = [
    ...["ada@example.com", "ada+a@example.com", "bob@example.com", "cy@example.com", "example.com"],
    ...["example.org", "sub.example.org", "di@sub.example.org"],
  ];
  const barred = new Set(asked.filter((subject) => !["cy@example.com", "example.com"].includes(subject)));
  expect(await suppressions.barredFromIndex(asked)).toEqual(barred);
  expect(await suppressions.among(asked)).toEqual(new Set(["bob@example.com"]));
  expect(await suppressions.ofAddress("ada@example.com")).toBeNull();
  expect(await suppressions.ofDomain("example.org")).toBe("none");
  expect(await suppressions.remove("ada@example.com")).toBe(true);
  expect(await suppressions.remove("ada@example.com")).toBe(false);
  expect(await suppressions.barredFromIndex(["ada@example.com"])).toEqual(new Set());
});

test("an erasure is barred from the page index after a rotation of the secret", async () => {
  const list = createMemorySuppressionList();
  await createSuppressions(list, SECRET).markErased("ada@example.com");
  const rotated = createSuppressions(list, [OTHER, SECRET]);
  expect(await rotated.barredFromIndex(["ada@example.com"])).toEqual(new Set(["ada@example.com"]));
});

test("a suppressed address covers its subaddresses, and a suppressed subaddress its address", async () => {
  const suppressions = createSuppressions(createMemorySuppressionList(), SECRET);
  await suppressions.add("ada@example.com");
  await suppressions.add("bob+news@example.com");
  for (const covered of [
    "ada+news@example.com",
    "ada+a+b@example.com",
    "bob@example.com",
    "bob+x@example.com",
  ]) {
    expect(await suppressions.ofAddress(covered), covered).toBe("address");
    expect(await suppressions.among([covered]), covered).toEqual(new Set([covered]));
  }
  for (const other of ["adam@example.com", "ada@sub.example.com", "+ada@example.com", "news@example.com"]) {
    expect(await suppressions.ofAddress(other), other).toBeNull();
    expect(await suppressions.among([other]), other).toEqual(new Set());
  }
  expect(await suppressions.remove("bob+other@example.com")).toBe(true);
  expect(await suppressions.ofAddress("bob+news@example.com")).toBeNull();
});

test("tokens of a list may be added to another only if the same secret marked both", async () => {
  const listOf = async (secret: Buffer, address: string) => {
    const added = new Set<string>();
    const list = createMemorySuppressionList();
    const kept: SuppressionList = {
      ...list,
      add: async (tokens) => {
        for (const token of tokens) added.add(token);
        await list.add(tokens);
      },
      claim: async (token, others) => {
        for (const each of [token, ...others]) added.add(each);
        return list.claim(token, others);
      },
    };
    await createSuppressions(kept, secret).add(address);
    return { list: kept, tokens: [...added] };
  };
  const ours = await listOf(SECRET, "ada@example.com");
  const later = await listOf(SECRET, "bob@example.com");
  const theirs = await listOf(OTHER, "cy@example.org");
  expect(await haveSameMarkers(ours.list, later.tokens)).toBe(true);
  expect(await haveSameMarkers(ours.list, theirs.tokens)).toBe(false);
  expect(await haveSameMarkers(createMemorySuppressionList(), theirs.tokens)).toBe(true);
});

test("one query of at most 200 tokens covers an address, a domain and 45 addresses of one domain", async () => {
  const list = counted(createMemorySuppressionList());
  const suppressions = createSuppressions(list, SECRET);
  await suppressions.ready();
  list.queries.length = 0;
  await suppressions.ofAddress("ada@example.com");
  await suppressions.ofDomain("example.com");
  await suppressions.among(Array.from({ length: 45 }, (_, index) => `p${index}@example.com`));
  expect(list.queries.length).toBe(3);
  const many = Array.from({ length: 1000 }, (_, index) => `p@d${index}.example`);
  await suppressions.add("p@d999.example");
  expect(await suppressions.among(many)).toEqual(new Set(["p@d999.example"]));
  expect(Math.max(...list.queries)).toBeLessThanOrEqual(200);
});

test("a list rejects another secret, now and on every later call", async () => {
  const list = createMemorySuppressionList();
  await createSuppressions(list, SECRET).ready();
  const wrong = createSuppressions(list, OTHER);
  await expect(wrong.ready()).rejects.toMatchObject(MISUSE);
  await expect(wrong.ofAddress("ada@example.com")).rejects.toMatchObject(MISUSE);
  await expect(wrong.add("ada@example.com")).rejects.toMatchObject(MISUSE);
  await expect(wrong.remove("ada@example.com")).rejects.toMatchObject(MISUSE);
  expect(await createSuppressions(list, SECRET).isUnused()).toBe(true);
});

test("the first secret of a rotation list creates entries, and none of the secrets can be omitted afterwards", async () => {
  const list = createMemorySuppressionList();
  await createSuppressions(list, SECRET).add("ada@example.com");
  const rotated = createSuppressions(list, [OTHER, SECRET]);
  await rotated.add("bob@example.com");
  const everyone = new Set(["ada@example.com", "bob@example.com"]);
  expect(await rotated.among([...everyone])).toEqual(everyone);
  expect(await createSuppressions(list, [THIRD, SECRET, OTHER]).among([...everyone])).toEqual(everyone);
  for (const incomplete of [SECRET, OTHER, THIRD, [THIRD, OTHER]]) {
    await expect(createSuppressions(list, incomplete).ready()).rejects.toMatchObject(MISUSE);
  }
  expect(await rotated.remove("ada@example.com")).toBe(true);
});

test("a running process stops answering once another adds an entry with an unknown secret", async () => {
  const list = createMemorySuppressionList();
  const running = createSuppressions(list, SECRET);
  const knowing = createSuppressions(list, [SECRET, OTHER]);
  expect(await running.ofAddress("ada@example.com")).toBeNull();
  expect(await knowing.ofAddress("ada@example.com")).toBeNull();
  await createSuppressions(list, [OTHER, SECRET]).add("ada@example.com");
  await expect(running.ofAddress("ada@example.com")).rejects.toMatchObject(MISUSE);
  expect(await knowing.ofAddress("ada@example.com")).toBe("address");
});

test("a list with entries but without a mark is refused", async () => {
  const list = createMemorySuppressionList();
  await list.add(["an entry of unknown origin"]);
  await expect(createSuppressions(list, SECRET).ready()).rejects.toMatchObject({ code: "host_misuse" });
});

test("if several processes open a new list with different secrets, those with one of the secrets win", async () => {
  const list = createMemorySuppressionList();
  const secrets = Array.from({ length: 20 }, (_, index) => Buffer.alloc(32, index % 4));
  const results = await Promise.allSettled(secrets.map((secret) => createSuppressions(list, secret).ready()));
  const winners = new Set(
    secrets.filter((_, index) => results[index]?.status === "fulfilled").map((secret) => secret[0]),
  );
  expect(winners.size).toBe(1);
  expect(results.filter(({ status }) => status === "fulfilled").length).toBe(5);
});

test("a list that is emptied while a process runs is marked again", async () => {
  const list = createMemorySuppressionList();
  let current = list;
  const suppressions = createSuppressions(
    {
      ...list,
      add: (tokens) => current.add(tokens),
      claim: (token, others) => current.claim(token, others),
      present: (tokens) => current.present(tokens),
      count: () => current.count(),
    },
    SECRET,
  );
  await suppressions.ready();
  current = createMemorySuppressionList();
  expect(await suppressions.ofAddress("ada@example.com")).toBeNull();
  await expect(createSuppressions(current, OTHER).ready()).rejects.toMatchObject(MISUSE);
});

test.each([
  [[], "must not be an empty list"],
  ["short", "at least 32 bytes"],
  [[SECRET, "short"], "at least 32 bytes"],
])("createSuppressions with the secret %j throws a TypeError", (secret, message) => {
  expect(() => createSuppressions(createMemorySuppressionList(), secret)).toThrow(TypeError);
  expect(() => createSuppressions(createMemorySuppressionList(), secret)).toThrow(message);
});
