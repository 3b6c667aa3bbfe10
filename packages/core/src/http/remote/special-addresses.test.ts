import { describe, expect, test } from "vitest";
import { isForbidden, specialAddresses } from "./special-addresses.ts";

const list = specialAddresses();

describe("specialAddresses() contains the address", () => {
  test.each(
    `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:c0a8:1
    64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:1::1 2001:10::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1
    3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 febf::1 fec0::1 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`.split(
      /\s+/,
    ),
  )("%s", (address) => expect(isForbidden(list, address)).toBe(true));
});

describe("isForbidden returns true for a text that is not an address:", () => {
  test.each([
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "017700000001",
    "2130706433",
    "1.2.3.4.5",
    "[::1]",
    "1.1.1.1\n",
  ])("%j", (address) => expect(isForbidden(list, address)).toBe(true));
});

describe("specialAddresses() does not contain the public address", () => {
  test.each(
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 172.15.0.1 172.32.0.1 192.167.0.1 198.20.0.1 223.255.255.255 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 2600::1 ::ffff:8.8.8.8".split(
      " ",
    ),
  )("%s", (address) => expect(isForbidden(list, address)).toBe(false));
});

test("specialAddresses accepts only listed ranges as exceptions", () => {
  const own = specialAddresses(["10.0.0.0/8"]);
  expect(isForbidden(own, "10.1.2.3")).toBe(false);
  expect(isForbidden(own, "192.168.0.1")).toBe(true);
  expect(() => specialAddresses(["10.0.0.0/9"])).toThrow(TypeError);
});
