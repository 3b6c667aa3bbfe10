import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sniffType } from "./sniff.ts";

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

test("sniffType detects the type of a file", () => {
  for (const [title, head, type] of [
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
    ["SVG in UTF-16", Buffer.from(`\ufeff${svg}`, "utf16le"), "image/svg+xml"],
    ["SVG in UTF-16 big endian", Buffer.from(`\ufeff${svg}`, "utf16le").swap16(), "image/svg+xml"],
    ["SVG in UTF-16 without a BOM", Buffer.from(svg, "utf16le"), "image/svg+xml"],
    ["SVG in UTF-16 big endian without a BOM", Buffer.from(svg, "utf16le").swap16(), "image/svg+xml"],
    [
      "SVG in UTF-16 cut within a character",
      Buffer.from(`\ufeff${svg}`, "utf16le").swap16().subarray(0, 99),
      "image/svg+xml",
    ],
    ["HTML in UTF-16", Buffer.from(`\ufeff<html>${svg}</html>`, "utf16le"), null],
    ["SVG after a DOCTYPE of HTML", Buffer.from(`<!doctype html>${svg}`), "image/svg+xml"],
    ["gzip", gzipSync(svg), null],
    ["HTML with an SVG inside", Buffer.from(`<html>${svg}</html>`), null],
    ["an element that begins like svg", Buffer.from("<svgx/>"), null],
    ["an unfinished comment", Buffer.from(`<!-- ${svg}`), null],
    ["nothing", Buffer.alloc(0), null],
  ] as const) {
    expect(sniffType(head), title).toBe(type);
  }
});

test("sniffType accepts a file that may be SVG if that is declared", () => {
  const rows: [title: string, head: string | Buffer][] = [
    ["gzip", gzipSync(svg)],
    ["an unfinished comment", `<!-- ${svg}`],
    ["an unfinished instruction", `<?xml version="1.0"?><?x ${svg}`],
    ["an unfinished DOCTYPE", `<?xml version="1.0"?>\n<!DOCTYPE  svg [<!ENTITY a "${svg}">`],
    ["an unfinished comment in UTF-16", Buffer.from("\ufeff<!-- ", "utf16le")],
    ["whitespace after a comment", `<!-- -->${" ".repeat(60_000)}`],
    ["an unfinished name", "<!-- --><s:sv"],
  ];
  for (const [title, head] of rows) {
    expect(sniffType(Buffer.from(head), "image/svg+xml"), title).toBe("image/svg+xml");
    expect(sniffType(Buffer.from(head))).toBeNull();
    expect(sniffType(Buffer.from(head), "image/png")).toBeNull();
  }
});

test("sniffType rejects a file that is not SVG, even if that is declared", () => {
  const rows: [title: string, head: string][] = [
    ["nothing", ""],
    ["whitespace", " ".repeat(65_536)],
    ["text", "SVG"],
    ["HTML", `<html>${svg}</html>`],
    ["HTML after a comment", `<!-- --><html>${svg}</html>`],
    ["HTML that has not come to an end of its DOCTYPE", "<!doctype html"],
    ["HTML that has not come to an end of a comment", `<!DOCTYPE html PUBLIC "svg"><!-- ${svg}`],
    ["another XML", '<?xml version="1.0"?><kml/>'],
    ["a very long name", `<?xml version="1.0"?><${"svg".repeat(20_000)}`],
    ["half of gzip's mark", "\x1f"],
  ];
  for (const [title, head] of rows) {
    expect(sniffType(Buffer.from(head), "image/svg+xml"), title).toBeNull();
  }
});

test("sniffType accepts a damaged PDF if that is declared", () => {
  const rows: [title: string, head: string][] = [
    ["without a header", "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"],
    ["with a damaged header", "\0\0\0\0\0\n%\u0080\u0081\n12 0 obj<</Length 5>>"],
    ["with a header after 2000 bytes", `${"a mail\n".repeat(300)}%PDF-1.4`],
  ];
  for (const [title, head] of rows) {
    expect(sniffType(Buffer.from(head), "application/pdf"), title).toBe("application/pdf");
    expect(sniffType(Buffer.from(head))).toBeNull();
    expect(sniffType(Buffer.from(head), "image/png")).toBeNull();
  }
});

test.each<[title: string, head: string]>([
  ["nothing", ""],
  ["text", "This PDF has 1 object and 0 objections."],
  ["HTML that holds an object", "<html><script>x()</script> 1 0 obj <<>> endobj"],
  ["HTML with a header after 1 KiB", `\n <!doctype html>${" ".repeat(1024)}%PDF-1.4`],
  ["a page that begins with a byte order mark", "\ufeff<p>1 0 obj"],
])("sniffType rejects %s as PDF, even if that is declared", (_, head) => {
  expect(sniffType(Buffer.from(head), "application/pdf")).toBeNull();
});

test("a declared PDF type does not override another detected type", () => {
  expect(sniffType(Buffer.from("GIF89a 1 0 obj"), "application/pdf")).toBe("image/gif");
});

test("a declared SVG type does not override another detected type", () => {
  expect(sniffType(Buffer.from("GIF89a"), "image/svg+xml")).toBe("image/gif");
  expect(sniffType(Buffer.from("%PDF-1.7\n"), "image/svg+xml")).toBe("application/pdf");
});

test("sniffType reads 64 KiB of unfinished prolog in linear time", () => {
  const started = process.cpuUsage();
  sniffType(Buffer.from("<!doctype [".padEnd(65_536, "\"'[")));
  sniffType(Buffer.from("<!--->".repeat(10_922)));
  sniffType(Buffer.alloc(65_536, " "));
  sniffType(Buffer.alloc(65_536, "<\0?\0 \0"), "image/svg+xml");
  sniffType(Buffer.alloc(65_536, "1 1         "), "application/pdf");
  sniffType(Buffer.alloc(65_536, " "), "application/pdf");
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});
