import { type Bomb, packedZeros } from "./bomb.ts";

function psd(width: number, height: number, version: 1 | 2): Buffer {
  const header = Buffer.alloc(26);
  header.write("8BPS", 0, "latin1");
  header.writeUInt16BE(version, 4);
  header.writeUInt16BE(3, 12);
  header.writeUInt32BE(height, 14);
  header.writeUInt32BE(width, 18);
  header.writeUInt16BE(8, 22);
  header.writeUInt16BE(3, 24);
  return Buffer.concat([header, Buffer.alloc(version === 2 ? 16 : 12)]);
}

export function psds(): Bomb[] {
  const raw = Buffer.alloc(2);
  const zipped = Buffer.concat([Buffer.from([0, 2]), packedZeros(400_000_000)]);
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a PSB of 300000²", "refused", Buffer.concat([psd(300_000, 300_000, 2), raw])],
    ["a PSD of zipped zeros", "bounded", Buffer.concat([psd(7000, 7000, 1), zipped])],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/x-photoshop" }));
}

function pdf(page: string, more: readonly string[]): Buffer {
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", page, ...more];
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

export function pdfs(): Bomb[] {
  const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>";
  const flate = packedZeros(500_000_000).toString("latin1");
  const list: [title: string, bytes: Buffer][] = [
    [
      "a PDF of contents of 500 MB",
      pdf(page, [`<</Length ${flate.length}/Filter/FlateDecode>>stream\n${flate}\nendstream`]),
    ],
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
  ];
  return list.map(([title, bytes]) => ({ title, bytes, ends: "bounded", type: "application/pdf" }));
}
