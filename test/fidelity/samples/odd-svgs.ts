import sharp from "sharp";
import { type Sample, sample, sceneRgb } from "./sample.ts";

const [WIDTH, HEIGHT] = [60, 40];
const scene = () => sharp(sceneRgb(WIDTH, HEIGHT), { raw: { width: WIDTH, height: HEIGHT, channels: 3 } });
const NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

/** SVGs with names that need decoding, pictures on their side, and sizes by fonts. */
export async function oddSvgs(): Promise<Sample[]> {
  return [...references(), ...(await turnedPictures())];
}

/** SVGs that refer to names with characters that URLs or CSS escape. */
function references(): Sample[] {
  const pairs = [
    ["a b", "url(#a%20b)"],
    ["a b", "url(#a\\ b)"],
    ["a b", "url('#a b')"],
    ["a b", "url(#a b)"],
    ["ä", "url(#%c3%a4)"],
    ["a(b)", "url('#a(b)')"],
    ["a(b)", "url(#a(b))"],
    ["a;b@c", "url(#a;b@c)"],
    ["a%20b", "url(#a%20b)"],
    ["ab", "url(\\23 \\61 b)"],
  ] as const;
  const size = `${NAMESPACES} width="${WIDTH}" height="${HEIGHT}"`;
  return pairs.flatMap(([id, reference]) => {
    const server = `<linearGradient id="${id}"><stop stop-color="#0a0"/><stop offset="1" stop-color="#00f"/></linearGradient>`;
    const link = `#${id.replace(/ /g, "%20")}`;
    return [
      [`an attribute, ${reference}`, `${server}<rect width="60" height="40" fill="${reference}"/>`] as const,
      [
        `a style sheet, ${reference}`,
        `<style>rect{stroke:${reference};stroke-width:20}</style>${server}<rect width="60" height="40"/>`,
      ] as const,
      [
        `a link, ${reference}`,
        `<defs><rect id="${id}" width="30" height="30"/></defs><use href="${link}"/>`,
      ] as const,
    ].map(([name, content]) =>
      sample("svg", `reference to ${id} by ${name}`, Buffer.from(`<svg ${size}>${content}</svg>`)),
    );
  });
}

/** SVGs with pictures on their side, and sized by fonts. */
async function turnedPictures(): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let turn = 2; turn <= 8; turn++) {
    const picture = await scene().withMetadata({ orientation: turn }).jpeg({ quality: 95 }).toBuffer();
    const image = `<image x="5" y="5" width="50" height="30" href="data:image/jpeg;base64,${picture.toString("base64")}"/>`;
    samples.push(
      sample(
        "svg",
        `embedded orientation ${turn}`,
        Buffer.from(`<svg ${NAMESPACES} width="60" height="40">${image}</svg>`),
      ),
    );
  }
  const shapes = '<rect width="2em" height="100%" fill="#0a6"/><rect width="10" height="10" fill="#f00"/>';
  for (const attributes of [
    'width="6em" height="3em"',
    'width="6rem" height="3rem" font-size="20"',
    'style="width:6em;height:3em;font-size:20px" viewBox="0 0 120 60"',
  ]) {
    samples.push(
      sample(
        "svg",
        `sized by ${attributes}`,
        Buffer.from(`<svg ${NAMESPACES} ${attributes}>${shapes}</svg>`),
      ),
    );
  }
  return samples;
}
