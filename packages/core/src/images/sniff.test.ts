import { expect, test } from "vitest";
import { sniffType } from "./sniff.ts";

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

test.each([
  ["JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
  ["PNG", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), "image/png"],
  ["PNG damaged by a text transfer", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0a, 0x1a, 0x0a]), null],
  ["GIF87a", Buffer.from("GIF87a"), "image/gif"],
  ["GIF89a", Buffer.from("GIF89a"), "image/gif"],
  ["PSD", Buffer.from("8BPS\0\x01"), "image/x-photoshop"],
  ["PSB", Buffer.from("8BPS\0\x02"), "image/x-photoshop"],
  ["8BPS of no known version", Buffer.from("8BPS\0\x03"), null],
  ["PDF", Buffer.from("%PDF-1.7\n"), "application/pdf"],
  ["PDF after junk", Buffer.from(`${"x".repeat(1000)}%PDF-1.4`), "application/pdf"],
  ["PDF too far in", Buffer.from(`${"x".repeat(1024)}%PDF-1.4`), null],
  ["plain SVG", Buffer.from(svg), "image/svg+xml"],
  [
    "SVG after BOM, declaration, comment and DOCTYPE",
    Buffer.from(
      `\ufeff<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC "a>b" "c" [<!ENTITY x "]>">]>\n${svg}`,
    ),
    "image/svg+xml",
  ],
  ["SVG with a prefix", Buffer.from('<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'), "image/svg+xml"],
  ["SVG that mentions PDF", Buffer.from(`<!-- %PDF- -->${svg}`), "image/svg+xml"],
  ["SVG in UTF-16", Buffer.from(`\ufeff${svg}`, "utf16le"), null],
  ["HTML with an SVG inside", Buffer.from(`<html>${svg}</html>`), null],
  ["an element that begins like svg", Buffer.from("<svgx/>"), null],
  ["an unfinished comment", Buffer.from(`<!-- ${svg}`), null],
  ["nothing", Buffer.alloc(0), null],
])("%s", (_title, head, type) => {
  expect(sniffType(head)).toBe(type);
});

test("64 KiB of unfinished prologue are told in linear time", () => {
  const started = process.cpuUsage();
  sniffType(Buffer.from("<!doctype [".padEnd(65_536, "\"'[")));
  sniffType(Buffer.from("<!--->".repeat(10_922)));
  sniffType(Buffer.alloc(65_536, " "));
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});
