import { type Bomb, packedZeros } from "./bomb.ts";

function psd(width: number, height: number, { version = 1, channels = 3, depth = 8 } = {}): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS", 0, "latin1");
  header.writeUInt16BE(version, 4);
  header.writeUInt16BE(channels, 12);
  header.writeUInt32BE(height, 14);
  header.writeUInt32BE(width, 18);
  header.writeUInt16BE(depth, 22);
  header.writeUInt16BE(3, 24);
  return Buffer.concat([header, Buffer.alloc(version === 2 ? 16 : 12)]);
}

export function psds(): Bomb[] {
  const raw = Buffer.alloc(2);
  const packed = Buffer.from([0, 1]);
  const zipped = Buffer.concat([Buffer.from([0, 2]), packedZeros(400_000_000)]);
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a PSD of 30000²", "refused", Buffer.concat([psd(30_000, 30_000), raw])],
    ["a PSB of 300000²", "refused", Buffer.concat([psd(300_000, 300_000, { version: 2 }), raw])],
    ["a PSD of 2^32-1 squared", "refused", Buffer.concat([psd(2 ** 32 - 1, 2 ** 32 - 1), raw])],
    ["a PSD without channels", "refused", Buffer.concat([psd(9, 9, { channels: 0 }), raw])],
    ["a PSD of 65535 channels", "refused", Buffer.concat([psd(9, 9, { channels: 65_535 }), raw])],
    ["a PSD of 7 bits", "refused", Buffer.concat([psd(9, 9, { depth: 7 }), raw])],
    [
      "a PSD of 56 channels of 900² in 40 bytes",
      "refused",
      Buffer.concat([psd(900, 900, { channels: 56 }), raw]),
    ],
    [
      "a PSD whose packed rows are missing",
      "refused",
      Buffer.concat([psd(30_000, 1000, { channels: 56 }), packed]),
    ],
    [
      "a PSD of packed rows of nothing",
      "bounded",
      Buffer.concat([psd(5000, 5000), packed, Buffer.alloc(30_000)]),
    ],
    ["a PSD of zipped zeros", "bounded", Buffer.concat([psd(7000, 7000), zipped])],
    [
      "a PSD whose sections are longer than the file",
      "refused",
      Buffer.concat([psd(9, 9).subarray(0, 26), Buffer.alloc(12, 0xff), raw]),
    ],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/x-photoshop" }));
}

function pdf(page: string, more: readonly string[] = [], pages = "/Kids[3 0 R]/Count 1"): Buffer {
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", `<</Type/Pages${pages}>>`, page, ...more];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${body}endobj\n`;
    return String(offset).padStart(10, "0");
  });
  const xref = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((each) => `${each} 00000 n \n`).join("")}`;
  text += `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${xref}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

function stream(content: string, entries = ""): string {
  return `<<${entries}/Length ${content.length}>>stream\n${content}\nendstream`;
}

/** A page and its objects: 10^depth drawings in a few hundred bytes. */
function nestedForms(depth: number): [page: string, objects: string[]] {
  const form = (number: number) => `/Resources<</XObject<</F ${number} 0 R>>>>`;
  const forms = Array.from({ length: depth }, (_, level) =>
    stream("/F Do ".repeat(10), `/Type/XObject/Subtype/Form/BBox[0 0 9 9]${form(6 + level)}`),
  );
  const leaf = stream("0 0 9 9 re f", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]");
  const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R${form(5)}>>`;
  return [page, [stream("/F Do"), ...forms, leaf]];
}

export function pdfs(): Bomb[] {
  const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>";
  const flate = packedZeros(500_000_000).toString("latin1");
  const list: [title: string, bytes: Buffer][] = [
    [
      "a PDF of a page of 10^9 points",
      pdf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 1000000000 1000000000]>>"),
    ],
    ["a PDF that declares 10^9 pages", pdf(page, [], "/Kids[3 0 R]/Count 1000000000")],
    ["a PDF whose page tree contains itself", pdf(page, [], "/Kids[2 0 R 2 0 R]/Count 2")],
    [
      "a PDF of contents of 500 MB",
      pdf(page, [`<</Length ${flate.length}/Filter/FlateDecode>>stream\n${flate}\nendstream`]),
    ],
    ["a PDF of arrays 200,000 deep", pdf(page, ["[".repeat(200_000)])],
    [
      "a PDF with a form that draws itself",
      pdf(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>",
        [
          "<</Length 5>>stream\n/F Do\nendstream",
          "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>/Length 11>>stream\n/F Do /F Do\nendstream",
        ],
      ),
    ],
    ["a PDF with ten nested forms, each drawn ten times", pdf(...nestedForms(10))],
    [
      "a PDF with a half-transparent page of 14,400 points a side",
      pdf(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 14400 14400]/Contents 4 0 R/Group<</S/Transparency/I true>>" +
          "/Resources<</ExtGState<</G<</ca 0.5/BM/Multiply>>>>>>>>",
        [stream(`/G gs ${"1 0 0 rg 9 9 14000 14000 re f ".repeat(50)}`)],
      ),
    ],
    [
      "a PDF of tiles of a hundredth of a point",
      pdf(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Pattern<</P 5 0 R>>>>>>",
        [
          stream("/Pattern cs /P scn 0 0 595 842 re f"),
          stream(
            "0 0 1 1 re f",
            "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.01/YStep 0.01/Resources<<>>",
          ),
        ],
      ),
    ],
    ["a PDF of its first line only", Buffer.from("%PDF-1.7\n")],
    [
      "a PDF whose cross-reference table is elsewhere",
      Buffer.from(
        pdf(page)
          .toString("latin1")
          .replace(/startxref\n\d+/, "startxref\n999999999"),
        "latin1",
      ),
    ],
    ["a PDF of a million first lines", Buffer.alloc(9_000_000, "%PDF-1.4\n")],
  ];
  return list.map(([title, bytes]) => ({ title, bytes, ends: "bounded", type: "application/pdf" }));
}
