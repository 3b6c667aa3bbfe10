/** Damages of PDF files as they occur: by text transfers, mail, cut downloads, and programs that write wrong structures. */
export const pdfDamages: ReadonlyMap<string, (pdf: Buffer) => Buffer> = new Map([
  ["without its first line", (pdf) => pdf.subarray(pdf.indexOf("\n") + 1)],
  ["with zeros for a header", (pdf) => Buffer.concat([Buffer.alloc(9), pdf.subarray(9)])],
  ["with another word for a header", replace(/^%PDF-/, "%XYZ-")],
  ["whose header lacks its percent sign", replace(/^%PDF-/, "PDF-")],
  ["whose header has no version", replace(/^%PDF-1\.\d/, "%PDF")],
  ["after 500 bytes of a mail", (pdf) => Buffer.concat([mail(500), pdf])],
  ["after 6000 bytes of a mail", (pdf) => Buffer.concat([mail(6000), pdf])],
  ["after a byte order mark", (pdf) => Buffer.concat([Buffer.from("\ufeff"), pdf])],
  ["in a printer's job", (pdf) => Buffer.concat([Buffer.from("\x1b%-12345X@PJL JOB\r\n"), pdf])],
  ["before 100 kB of a mail", (pdf) => Buffer.concat([pdf, mail(100_000)])],
  ["before zeros", (pdf) => Buffer.concat([pdf, Buffer.alloc(5000)])],
  ["without a cross-reference table", replace(/\nxref[\s\S]*?(?=trailer)/, "\n")],
  ["cut after its last object", (pdf) => pdf.subarray(0, pdf.lastIndexOf("endobj") + 7)],
  ["whose startxref is 0", replace(/startxref\s+\d+/g, "startxref\n0")],
  ["whose startxref is beyond its end", replace(/startxref\s+\d+/g, "startxref\n99999999")],
  ["without startxref", replace(/startxref\s+\d+/g, "")],
  ["without an end mark", replace(/%%EOF\s*/g, "")],
  ["whose cross-references are wrong", replace(/\d{10} (\d{5}) n/g, "0000000007 $1 n")],
  ["whose cross-references are free", replace(/(\d{10} \d{5}) n/g, "$1 f")],
  ["whose cross-references begin at 1", replace(/\nxref\s+0 /, "\nxref\n1 ")],
  ["whose trailer is misspelt", replace(/trailer/g, "tra1ler")],
  ["whose trailer names no catalogue", replace(/\/Root \d+ 0 R/g, "")],
  ["whose trailer names a missing catalogue", replace(/\/Root \d+ 0 R/g, "/Root 999 0 R")],
  ["with CRLF for LF", replace(/\r?\n/g, "\r\n")],
  ["with a page count of 0", replace(/\/Count \d+/g, "/Count 0")],
  ["with a page count of -1", replace(/\/Count \d+/g, "/Count -1")],
  ["with a page count of 1000", replace(/\/Count \d+/g, "/Count 1000")],
  ["without a page count", replace(/\/Count \d+/g, "")],
  ["whose pages have no type", replace(/\/Type\s*\/Page(?!s)/g, "")],
  ["whose page tree has no type", replace(/\/Type\s*\/Pages/g, "")],
  ["whose catalogue has no type", replace(/\/Type\s*\/Catalog/g, "")],
  ["whose pages have a wrong type", replace(/\/Type\s*\/Page(?!s)/g, "/Type /Pages")],
  ["whose first kid is missing", replace(/\/Kids\s*\[/g, "/Kids [999 0 R ")],
  ["whose first kid is null", replace(/\/Kids\s*\[/g, "/Kids [null ")],
  ["without kids", replace(/\/Kids\s*\[[^\]]*\]/g, "/Kids []")],
  ["whose kids are missing", replace(/\/Kids\s*\[[^\]]*\]/g, "/Kids [998 0 R 999 0 R]")],
  ["whose catalogue names no pages", replace(/\/Pages \d+ 0 R/g, "")],
  ["whose catalogue names missing pages", replace(/\/Pages \d+ 0 R/g, "/Pages 999 0 R")],
  ["whose page tree is broken", replace(/\/Kids/g, "/Kids <<<")],
  ["whose crop box is outside", replace(/\/MediaBox\s*\[/g, "/CropBox[9000 9000 9100 9100]/MediaBox [")],
  ["without endobj", replace(/endobj/g, "")],
  ["without endstream", replace(/endstream/g, "")],
  ["whose streams have no length", replace(/\/Length \d+( 0 R)?/g, "")],
  ["whose streams are longer than they say", replace(/\/Length \d+/g, "/Length 5")],
  ["whose objects are indented", replace(/(\d+) 0 obj/g, "   $1   0   obj")],
  ["whose objects begin on three lines", replace(/(\d+) 0 obj/g, "$1\n0\nobj")],
]);

function replace(pattern: RegExp, replacement: string): (pdf: Buffer) => Buffer {
  return (pdf) => Buffer.from(pdf.toString("latin1").replace(pattern, replacement), "latin1");
}

function mail(bytes: number): Buffer {
  return Buffer.from("Dear reader, the plan is attached.\n".repeat(bytes).slice(0, bytes));
}
