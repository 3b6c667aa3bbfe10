import { describe, expect, test } from "vitest";
import { checkRemoteUrl, isHostEntry, MAX_URL_LENGTH } from "./remote-policy.ts";

const POLICY = { ports: [80, 443], internalHosts: [] as string[] };
const check = (text: string, policy: Partial<typeof POLICY> = {}, base?: URL) =>
  checkRemoteUrl(text, { ...POLICY, ...policy }, base);

test.each([
  ["http://example.com/a.png?b=c#d", "example.com"],
  ["https://EXAMPLE.com.", "example.com"],
  ["https://bücher.example/ä.png", "xn--bcher-kva.example"],
  ["http://93.184.216.34:80/", "93.184.216.34"],
  ["https://[2606:4700::1111]:443/", "2606:4700::1111"],
])("checkRemoteUrl accepts %s", (text, host) => {
  expect(check(text)).toMatchObject({ host, isInternal: false });
});

// Spellings of 127.0.0.1 become that address, which is then refused like any other special address.
test.each([
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://0x7f.1/",
  "http://127.1/",
  "http://127.0.0.1./",
  "http://①②⑦.0.0.1/",
  "http://%31%32%37.0.0.1/",
])("checkRemoteUrl reads the host of %s as 127.0.0.1", (text) => {
  expect(check(text)).toMatchObject({ host: "127.0.0.1", isInternal: false });
});

test("checkRemoteUrl reads an IPv4-mapped address as IPv6", () => {
  expect(check("http://[::ffff:127.0.0.1]/")).toMatchObject({ host: "::ffff:7f00:1" });
});

describe("checkRemoteUrl refuses", () => {
  test.each([
    ["", "be an absolute http or https URL"],
    ["/a.png", "be an absolute http or https URL"],
    ["file:///etc/passwd", "be an absolute http or https URL"],
    ["ftp://example.com/a.png", "be an absolute http or https URL"],
    ["data:image/png;base64,AA==", "be an absolute http or https URL"],
    ["gopher://example.com:80/", "be an absolute http or https URL"],
    ["http://", "be an absolute http or https URL"],
    ["http://[fe80::1%25eth0]/", "be an absolute http or https URL"],
    ["http://300.1.1.1/", "be an absolute http or https URL"],
    ["https://anna@example.com/", "have no user name and no password"],
    ["https://anna:secret@example.com/", "have no user name and no password"],
    ["https://:secret@example.com/", "have no user name and no password"],
    ["http://example.com:22/", "have one of the ports 80, 443"],
    ["http://example.com:0/", "have one of the ports 80, 443"],
    [`http://example.com/${"a".repeat(MAX_URL_LENGTH)}`, "have at most 4096 characters"],
  ])("%s", (text, reason) => expect(check(text)).toBe(reason));
});

test("checkRemoteUrl accepts other ports only where the policy names them", () => {
  expect(check("https://example.com:8443/", { ports: [8443] })).toMatchObject({ host: "example.com" });
  expect(check("https://example.com/", { ports: [8443] })).toBe("have one of the ports 8443");
});

test("checkRemoteUrl marks internal hosts: on the standard ports without a port, else on exactly that port", () => {
  const internalHosts = ["CMS.intranet", "files.intranet:8080", "[fd00::1]", "10.1.2.3:80"];
  expect(check("http://cms.intranet/", { internalHosts })).toMatchObject({ isInternal: true });
  expect(check("http://cms.intranet:8080/", { internalHosts })).toBe("have one of the ports 80, 443");
  expect(check("http://files.intranet:8080/", { internalHosts })).toMatchObject({ isInternal: true });
  expect(check("http://files.intranet/", { internalHosts })).toMatchObject({ isInternal: false });
  expect(check("https://[FD00:0::1]/", { internalHosts })).toMatchObject({ isInternal: true });
  expect(check("http://10.1.2.3/", { internalHosts })).toMatchObject({ isInternal: true });
  expect(check("https://10.1.2.3/", { internalHosts })).toMatchObject({ isInternal: false });
  expect(check("http://a.cms.intranet/", { internalHosts })).toMatchObject({ isInternal: false });
});

test("checkRemoteUrl resolves a redirect against its base", () => {
  expect(check("//other.example/b", {}, new URL("https://example.com/a/c"))).toMatchObject({
    url: new URL("https://other.example/b"),
  });
  expect(check("../b", {}, new URL("https://example.com/a/c"))).toMatchObject({
    url: new URL("https://example.com/b"),
  });
});

test("isHostEntry accepts a host with or without a port, and nothing else", () => {
  for (const entry of ["a", "a.b:1", "10.0.0.1", "[fd00::1]:80"]) expect(isHostEntry(entry)).toBe(true);
  for (const entry of ["", "http://a", "a/b", "a:b", "u@a", "fd00::1", "a b", "a?b", "a:99999"]) {
    expect(isHostEntry(entry), entry).toBe(false);
  }
});

test("checkRemoteUrl accepts a host with letters outside ASCII however often it is asked", () => {
  // URL.canParse of Node 20 refuses it once the call is optimised.
  let refused = 0;
  for (let index = 0; index < 50_000; index++) {
    if (typeof check("https://bücher.example/ä.png") === "string") refused++;
  }
  expect(refused).toBe(0);
});
