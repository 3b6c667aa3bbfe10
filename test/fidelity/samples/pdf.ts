import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { launchChromium } from "../../support/chromium.ts";
import { QUARTERS, samplePdf } from "../../support/pdf-samples.ts";
import { programs, run } from "../../support/programs.ts";
import { sampleSvgs } from "../../svg/samples.ts";
import { type Sample, sample, sceneRgb } from "./sample.ts";

const FONTS = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>";

/** PDFs of several writers, as qpdf rewrites them, and with the damage that readers repair. */
export async function pdfSamples(): Promise<Sample[]> {
  const printed = await byChromium();
  const drawn = await byCairo();
  const typed = await byPdfkit();
  const boxes = printed.find(({ name }) => name.endsWith("boxes"))?.bytes ?? whole;
  return [
    ...printed,
    ...drawn,
    ...typed,
    ...(await byQpdf({ quarters: whole, "a printed page": boxes })),
    ...damages(),
  ];
}

const whole = samplePdf([
  { content: `${QUARTERS} BT /F 18 Tf 0 g 4 12 Td (Text) Tj ET`, resources: FONTS },
  { content: "0 g 0 0 60 40 re f" },
]);

async function output(program: string, args: string[], input: Buffer): Promise<Buffer> {
  const { stdout, status, stderr } = await run(program, args, { input });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const QPDF_FORMS: Record<string, string[]> = {
  linearized: ["--linearize"],
  "object streams": ["--object-streams=generate"],
  "no object streams": ["--object-streams=disable"],
  readable: ["--qdf"],
  uncompressed: ["--compress-streams=n", "--decode-level=all"],
  recompressed: ["--recompress-flate", "--compression-level=9"],
  "old version": ["--force-version=1.2"],
  turned: ["--rotate=90"],
  "no user password, 40 bits": ["--allow-weak-crypto", "--encrypt", "", "owner", "40", "--"],
  "no user password, 128 bits": ["--allow-weak-crypto", "--encrypt", "", "owner", "128", "--"],
  "no user password, AES": ["--allow-weak-crypto", "--encrypt", "", "owner", "128", "--use-aes=y", "--"],
  "no user password, 256 bits": ["--encrypt", "", "owner", "256", "--"],
  "no user password, restricted": [
    "--encrypt",
    "",
    "owner",
    "256",
    "--print=none",
    "--extract=n",
    "--modify=none",
    "--",
  ],
  "linearized and encrypted": ["--linearize", "--encrypt", "", "owner", "256", "--"],
  "user password, 128 bits": ["--allow-weak-crypto", "--encrypt", "secret", "owner", "128", "--"],
  "user password, 256 bits": ["--encrypt", "secret", "owner", "256", "--"],
};

async function byQpdf(sources: Record<string, Buffer>): Promise<Sample[]> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-qpdf-"));
  try {
    const samples: Sample[] = [];
    for (const [source, bytes] of Object.entries(sources)) {
      const path = join(directory, `${source}.pdf`);
      await writeFile(path, bytes);
      for (const [form, args] of Object.entries(QPDF_FORMS)) {
        const made = await output(programs.qpdf, [...args, path, "-"], Buffer.alloc(0));
        samples.push(sample("pdf", `by qpdf, ${source}, ${form}`, made));
      }
    }
    return samples;
  } finally {
    await rm(directory, { recursive: true });
  }
}

function damages(): Sample[] {
  const text = whole.toString("latin1");
  const xref = text.lastIndexOf("\nxref\n") + 1;
  const trailer = text.lastIndexOf("trailer");
  const edit = (change: (text: string) => string) => Buffer.from(change(text), "latin1");
  const made: Record<string, Buffer> = {
    "without its end": edit((all) => all.slice(0, all.lastIndexOf("startxref"))),
    "without its table": edit((all) => all.slice(0, xref)),
    "without its table and trailer entries": edit((all) => all.slice(0, xref) + all.slice(trailer)),
    "a wrong startxref": edit((all) => all.replace(/startxref\n\d+/, "startxref\n7")),
    "startxref beyond the end": edit((all) => all.replace(/startxref\n\d+/, "startxref\n999999")),
    "offsets moved by a line": edit((all) => all.replace("%PDF-1.7\n", "%PDF-1.7\n%moved\n")),
    "bytes before the header": Buffer.concat([Buffer.from("leading bytes\n"), whole]),
    "500 bytes before the header": Buffer.concat([Buffer.alloc(500, 10), whole]),
    "bytes after the end": Buffer.concat([whole, Buffer.from("\ntrailing bytes"), Buffer.alloc(2000)]),
    "header without a version": edit((all) => all.replace("%PDF-1.7", "%PDF-")),
    "header of version 9.9": edit((all) => all.replace("%PDF-1.7", "%PDF-9.9")),
    "no header": edit((all) => all.replace("%PDF-1.7\n", "")),
    "line ends of Windows": edit((all) => all.replaceAll("\n", "\r\n")),
    "line ends of old Macs": edit((all) => all.replaceAll("\n", "\r")),
    "wrong lengths of streams": edit((all) => all.replace(/\/Length \d+/g, "/Length 3")),
    "too great lengths of streams": edit((all) => all.replace(/\/Length \d+/g, "/Length 9999")),
    "no lengths of streams": edit((all) => all.replace(/\/Length \d+/g, "")),
    "no endobj": edit((all) => all.replaceAll("endobj", "")),
    "no endstream": edit((all) => all.replaceAll("endstream", "")),
    "no type of the pages": edit((all) => all.replaceAll("/Type/Pages", "").replaceAll("/Type/Page", "")),
    "a wrong count of pages": edit((all) => all.replace("/Count 2", "/Count 7")),
    "a count of no pages": edit((all) => all.replace("/Count 2", "/Count 0")),
    "a page that is missing": edit((all) => all.replace("/Kids[3 0 R 5 0 R]", "/Kids[3 0 R 99 0 R]")),
    "a first page that is missing": edit((all) => all.replace("/Kids[3 0 R 5 0 R]", "/Kids[99 0 R 3 0 R]")),
    "no catalogue in the trailer": edit((all) => all.replace("/Root 1 0 R", "")),
    "cut in the table": whole.subarray(0, xref + 30),
    "cut in the second page": whole.subarray(0, whole.indexOf("5 0 obj") + 20),
    "updated in place": Buffer.concat([
      whole,
      Buffer.from(
        `4 0 obj\n<</Length 27>>\nstream\n0 .5 .8 rg 0 0 60 40 re f \nendstream\nendobj\nxref\n4 1\n${String(whole.length).padStart(10, "0")} 00000 n \ntrailer\n<</Size 7/Root 1 0 R/Prev ${xref}>>\nstartxref\n${whole.length + 76}\n%%EOF\n`,
      ),
    ]),
  };
  return Object.entries(made).map(([name, bytes]) => sample("pdf", `damaged: ${name}`, bytes));
}

const HTML_PAGES: Record<string, string> = {
  article: `<h1>Heading</h1>${"<p>A paragraph of text in the usual font, with <b>bold</b>, <i>italic</i> and <a href='https://example.com/'>a link</a>.</p>".repeat(9)}`,
  boxes:
    '<div style="width:200px;height:120px;background:linear-gradient(45deg,#c33,#36c);border-radius:20px;box-shadow:5px 5px 9px #0008"></div><div style="opacity:.5;background:#3a5;width:90px;height:90px;transform:rotate(20deg)"></div>',
  table: `<table border="1">${"<tr><td>Name</td><td style='background:#fc8'>12.50</td><td>λ ж ü</td></tr>".repeat(12)}</table>`,
  columns: `<div style="columns:2">${"<p>Text in two columns of a page.</p>".repeat(40)}</div>`,
  "a dark page": '<body style="background:#123;color:#def"><h1>Dark</h1><canvas id="c"></canvas></body>',
};

/** Pages that Chromium prints. */
async function byChromium(): Promise<Sample[]> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const samples: Sample[] = [];
    for (const [name, html] of Object.entries(HTML_PAGES)) {
      await page.setContent(html);
      for (const landscape of [false, true]) {
        const bytes = await page.pdf({ landscape, printBackground: true, format: "A5" });
        samples.push(sample("pdf", `by Chromium, ${name}${landscape ? ", landscape" : ""}`, bytes));
      }
    }
    return samples;
  } finally {
    await browser.close();
  }
}

/** Drawings that librsvg and poppler write through cairo. */
async function byCairo(): Promise<Sample[]> {
  const drawings = Object.entries(await sampleSvgs()).filter(([, svg]) => svg.includes("xmlns"));
  const samples: Sample[] = [];
  for (const [index, [name, svg]] of drawings.entries()) {
    const bytes = await output(programs.rsvgConvert, ["-f", "pdf", "-z", "3"], Buffer.from(svg));
    samples.push(sample("pdf", `by librsvg, ${name}`, bytes));
    if (index % 4 !== 0) continue;
    const again = await output(join(dirname(programs.pdftoppm), "pdftocairo"), ["-pdf", "-", "-"], bytes);
    samples.push(sample("pdf", `by poppler, ${name}`, again));
  }
  return samples;
}

type PdfDocument = InstanceType<typeof import("pdfkit")>;

async function byPdfkit(): Promise<Sample[]> {
  const PdfKit: typeof import("pdfkit") = createRequire(
    new URL("../../../packages/imaging/package.json", import.meta.url),
  )("pdfkit");
  const picture = sharp(sceneRgb(90, 60), { raw: { width: 90, height: 60, channels: 3 } });
  const [jpeg, png] = [await picture.clone().jpeg().toBuffer(), await picture.clone().png().toBuffer()];
  const fontPath =
    (await run(programs.fcList, [":family=DejaVu Sans:style=Book", "file"])).stdout
      .toString()
      .split(":")[0]
      ?.trim() ?? "";
  const font = await readFile(fontPath);
  const pages: Record<string, (document: PdfDocument) => void> = {
    text: (document) => document.text("Lorem ipsum dolor sit amet. ".repeat(40)),
    "an embedded font": (document) => document.font(font).fontSize(20).text("Grüße, ελιά, Жук. ".repeat(10)),
    pictures: (document) => document.image(jpeg, 20, 20, { width: 200 }).image(png, 60, 160, { width: 180 }),
    vectors: (document) =>
      document
        .path("M 20,20 L 100,160 Q 130,200 150,120 C 190,-40 200,200 280,150")
        .fillAndStroke("#c52", "#135"),
    gradients: (document) =>
      document
        .rect(10, 10, 200, 100)
        .fill(document.linearGradient(10, 10, 210, 110).stop(0, "#e30").stop(1, "#05b")),
    opacity: (document) =>
      document.rect(10, 10, 150, 100).fillOpacity(0.4).fill("#083").circle(120, 100, 60).fill("#b06"),
    annotations: (document) =>
      document.text("A note").highlight(20, 20, 100, 20).link(20, 60, 90, 20, "https://example.com/"),
  };
  const samples: Sample[] = [];
  for (const [name, draw] of Object.entries(pages)) {
    for (const [form, options] of Object.entries({
      "": {},
      ", uncompressed": { compress: false },
      ", version 1.3": { pdfVersion: "1.3" as const },
    })) {
      const document = new PdfKit({ size: [300, 220], margin: 20, ...options });
      draw(document);
      document.end();
      samples.push(sample("pdf", `by pdfkit, ${name}${form}`, await buffer(document)));
    }
  }
  return samples;
}
