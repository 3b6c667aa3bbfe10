import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { photograph } from "./photograph.mjs";
import { createSeeded } from "./seeded.mjs";

/** @import { Seeded } from "./seeded.mjs" */

const PAGES = 10;
const MARGIN_POINTS = 56;
const PHOTO = { width: 1200, height: 800 };
const SYLLABLES = [
  "ber",
  "da",
  "fon",
  "ga",
  "hel",
  "in",
  "jo",
  "kan",
  "lu",
  "mer",
  "no",
  "pa",
  "ris",
  "sen",
  "to",
];

/**
 * Ten A4 pages, each with headings and paragraphs in the standard fonts, a chart, and the same photograph.
 * @returns {Promise<Buffer>}
 */
export async function textPdf() {
  const seeded = createSeeded(10);
  const photo = await (await photograph(PHOTO, 10)).jpeg({ quality: 85 }).toBuffer();
  const document = new PDFDocument({
    size: "A4",
    margin: MARGIN_POINTS,
    autoFirstPage: false,
    info: { CreationDate: new Date(0) },
  });
  const bytes = buffer(document);
  // Opened once, so that the pages share it. The declared type lacks this method.
  const image = /** @type {any} */ (document).openImage(photo);
  for (let page = 1; page <= PAGES; page++) {
    document.addPage();
    document
      .font("Helvetica-Bold")
      .fontSize(22)
      .text(`${page}. ${sentence(seeded, 4)}`)
      .moveDown(0.5);
    document.font("Times-Roman").fontSize(11);
    for (let paragraph = 0; paragraph < 3; paragraph++) {
      document.text(sentence(seeded, 90), { align: "justify" }).moveDown(0.5);
    }
    document.image(image, MARGIN_POINTS, 400, { width: 230 });
    drawChart(document, seeded);
    document.font("Courier").fontSize(9).fillColor("#333333").text(sentence(seeded, 60), MARGIN_POINTS, 600);
    document.font("Times-Italic").fontSize(10).text(sentence(seeded, 70), MARGIN_POINTS, 690);
    document.fillColor("#000000");
  }
  document.end();
  return bytes;
}

/**
 * Bars, a curve through 200 points, and a grid.
 * @param {PDFKit.PDFDocument} document
 * @param {Seeded} seeded
 */
function drawChart(document, seeded) {
  const [left, top, width, height] = [310, 400, 230, 153];
  document.save().lineWidth(0.5).strokeColor("#bbbbbb");
  for (let line = 0; line <= 10; line++) {
    const y = top + (line * height) / 10;
    document
      .moveTo(left, y)
      .lineTo(left + width, y)
      .stroke();
  }
  const gradient = document.linearGradient(left, top, left, top + height);
  gradient.stop(0, "#1b6ca8").stop(1, "#a8d8f0");
  for (let bar = 0; bar < 12; bar++) {
    const barHeight = seeded.between(0.1, 0.9) * height;
    document.rect(left + 4 + bar * 19, top + height - barHeight, 14, barHeight).fill(gradient);
  }
  document.moveTo(left, top + height / 2);
  for (let point = 1; point <= 200; point++) {
    const y = top + height * (0.5 + 0.35 * Math.sin(point / 9) * seeded.between(0.7, 1));
    document.lineTo(left + (point * width) / 200, y);
  }
  document.lineWidth(1.2).strokeColor("#c0392b").stroke().restore();
}

/**
 * @param {Seeded} seeded
 * @param {number} words
 */
function sentence(seeded, words) {
  const text = Array.from({ length: words }, () => {
    const syllables = Array.from(
      { length: Math.ceil(seeded.between(0, 4)) },
      () => SYLLABLES[Math.floor(seeded.between(0, SYLLABLES.length))],
    );
    return syllables.join("");
  }).join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
