import sharp from "sharp";

/** @import { Sharp } from "sharp" */

const [WIDTH, HEIGHT] = [1920, 1080];
const ROWS = 30;
const COLOURS = ["#c0392b", "#1b6ca8", "#1e8449", "#9a5b00", "#6c3483"];

/**
 * A picture like a screenshot: text, thin lines, flat colours.
 * @returns {Sharp} Opaque.
 */
export function screenshot() {
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const y = 96 + row * 32;
    const colour = COLOURS[row % COLOURS.length];
    return `<rect x="280" y="${y - 22}" width="1600" height="31" fill="${row % 2 === 0 ? "#fff" : "#f3f6fa"}"/>
      <text x="296" y="${y}" fill="${colour}">${String(row + 1).padStart(2, "0")} release-${row * 7 + 13}.tar.gz</text>
      <text x="760" y="${y}" fill="#222">Built ${row + 2} minutes ago on a quiet machine</text>
      <rect x="1500" y="${y - 14}" width="${40 + ((row * 53) % 260)}" height="14" fill="${colour}"/>
      <path d="M280 ${y + 9.5}h1600" stroke="#d5dbe3"/>`;
  });
  return sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="17">
      <rect width="100%" height="100%" fill="#e9edf2"/><rect width="100%" height="56" fill="#24324a"/>
      <text x="24" y="36" fill="#fff" font-size="22">Builds</text><rect y="56" width="256" height="1024" fill="#31425f"/>
      ${["Overview", "Builds", "Releases", "People", "Settings"].map((label, index) => `<text x="24" y="${104 + index * 40}" fill="#cfd8e6">${label}</text>`).join("")}
      ${rows.join("\n")}</svg>`),
  ).removeAlpha();
}
