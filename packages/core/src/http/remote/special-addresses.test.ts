import { BlockList } from "node:net";
import { expect, test } from "vitest";
import { isForbidden, specialAddresses } from "./special-addresses.ts";

const list = specialAddresses();

test("specialAddresses() contains each special address", () => {
  const special =
    `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:c0a8:1
    168.63.129.16 ::ffff:168.63.129.16 ::ffff:0:127.0.0.1 ::ffff:0:7f00:1 ::ffff:0:10.0.0.1 ::fffe:8.8.8.8 ::1:8.8.8.8 ::ffff:1:8.8.8.8
    64:ff9b::7f00:1 64:ff9b::169.254.169.254 64:ff9b::1:808:808 64:ff9b:1::1 64:ff9b:1::8.8.8.8 64:ff9b:2::1 64:ff9c::1 64::1 100::1 200::1
    400::1 1fff:ffff::1 2001::1 2001:0:1::1 2001:0:808:808::f5ff:fffe 2001:0:a00:1::f7f7:f7f7 2001:1::1 2001:4:112::1 2001:10::1 2001:1ff::1
    2001:db8::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2002:a83f:8110::1 2002:808:808::5efe:a00:1 2600:1f00::5efe:7f00:1 2600::200:5efe:10.0.0.1
    2600::300:5efe:192.168.1.1 2620:4f:8000::1 2600::1%eth0 fe80::1%1
    3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 febf::1 fec0::1 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`.split(
      /\s+/,
    );
  expect(special.filter((address) => !isForbidden(list, address))).toEqual([]);
});

test("isForbidden returns true for a text that is not an address", () => {
  const texts = "localhost 127.1 0x7f.0.0.1 017700000001 2130706433 1.2.3.4.5 [::1]".split(" ");
  for (const text of ["", "1.1.1.1\n", ...texts]) expect(isForbidden(list, text), text).toBe(true);
});

test("specialAddresses() contains no public address", () => {
  const open =
    `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 172.15.0.1 172.32.0.1 192.167.0.1 198.20.0.1 223.255.255.255 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 2600::1 2001:200::1 2620:4f:7fff::1
    2620:4f:8001::1 168.63.129.15 168.63.129.17 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 2001:0:808:808::f7f7:f7f7
    2600::5efe:8.8.8.8 2600::200:5efe:808:808 2600::5eff:7f00:1 2600::1:0:5efe:7f00:1:0`.split(/\s+/);
  expect(open.filter((address) => isForbidden(list, address))).toEqual([]);
});

test("isForbidden admits no IPv6 address outside 2000::/3, whatever its first 16 bits", () => {
  const first = Array.from({ length: 0x10000 }, (_, group) => group);
  const refused = first.filter((group) => isForbidden(list, `${group.toString(16)}:1:2:3:4:5:6:7`));
  // 2001::/23, 0.1.0.2 within 2002::/16, and 3fff::/20.
  const special = [0x2001, 0x2002, 0x3fff];
  expect(refused).toEqual(first.filter((group) => group >> 13 !== 1 || special.includes(group)));
});

test("isForbidden judges the IPv4 address within an IPv6 address by the given list", () => {
  const own = specialAddresses(["10.0.0.0/8"]);
  for (const address of ["::ffff:10.1.1.1", "64:ff9b::10.1.1.1", "2002:a01:101::1", "2600::5efe:10.1.1.1"])
    expect([address, isForbidden(own, address)]).toEqual([address, false]);
  const none = new BlockList();
  none.addAddress("8.8.8.8");
  expect(isForbidden(none, "64:ff9b::8.8.8.8")).toBe(true);
});

test("specialAddresses accepts each listed range as an exception", () => {
  for (const [range, inside] of [
    ["::/96", "::1"],
    ["64:ff9b:1::/48", "64:ff9b:1::1"],
    ["100::/8", "1ff::1"],
    ["2001::/23", "2001:4:112::1"],
    ["4000::/2", "4000::1"],
    ["8000::/1", "fd00::1"],
    ["168.63.129.16/32", "168.63.129.16"],
  ] as const) {
    expect([range, isForbidden(specialAddresses([range]), inside)]).toEqual([range, false]);
  }
  expect(() => specialAddresses(["64:ff9b::/96", "2002::/16"])).not.toThrow();
});

test("specialAddresses accepts only listed ranges as exceptions", () => {
  const own = specialAddresses(["10.0.0.0/8"]);
  expect(isForbidden(own, "10.1.2.3")).toBe(false);
  expect(isForbidden(own, "192.168.0.1")).toBe(true);
  expect(() => specialAddresses(["10.0.0.0/9"])).toThrow(TypeError);
});
