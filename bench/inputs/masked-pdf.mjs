/** Draws on the page: each takes about 20 ms at full size. */
const DRAWS = 150;

/**
 * A PDF of 2 KB that takes seconds at each larger size, and little at its upload: one page drawn repeatedly through a
 * mask of itself.
 */
export function maskedPdf() {
  const resources = "/Resources<</ExtGState<</G<</SMask<</S/Luminosity/G 5 0 R>>>>>>/XObject<</F 5 0 R>>>>";
  const form = "/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Group<</S/Transparency/CS/DeviceRGB>>";
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R${resources}>>`,
    stream(`/G gs ${"/F Do ".repeat(DRAWS)}`),
    stream("1 0 0 rg 0 0 595 842 re f", form),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${body}endobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  text += `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/**
 * @param {string} content
 * @param {string} [entries]
 */
function stream(content, entries = "") {
  return `<<${entries}/Length ${content.length}>>stream\n${content}\nendstream`;
}
