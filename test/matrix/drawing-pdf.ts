/** A PDF of `pages` pages with vectors, text in a standard font and an image; each page has a colour of its own. */
export function drawingPdf(width: number, height: number, pages: number): Buffer {
  const kids = Array.from({ length: pages }, (_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${pages}>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>",
  ];
  for (let page = 0; page < pages; page++) {
    const drawing = content(width, height, page);
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents ${5 + 2 * page} 0 R` +
        "/Resources<</Font<</F 3 0 R>>>>>>",
      `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
    );
  }
  return assemble(objects);
}

function content(width: number, height: number, page: number): string {
  return [
    `0.1 0.3 ${page === 0 ? 0.8 : 0.2} rg 0 ${height / 2} ${width} ${height / 2} re f`,
    `0.9 0.2 0.1 rg 0 0 ${width / 2} ${height / 2} re f`,
    `BT /F ${height / 4} Tf 1 1 1 rg 8 ${height * 0.6} Td (Page ${page + 1}) Tj ET`,
  ].join("\n");
}

function assemble(objects: readonly string[]): Buffer {
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(
    `${text}trailer\n<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`,
  );
}
