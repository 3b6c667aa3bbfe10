import { expect, test } from "vitest";
import { cleanSvg } from "./clean-svg.ts";

const START = '<svg xmlns="http://www.w3.org/2000/svg">';

test.each<[title: string, content: string, left: string]>([
  [
    "what use can draw",
    '<x:y xmlns:x="z"><rect id="a"/><g><x:z><path id="b"/>t</x:z></g><rect/></x:y><use href="#a"/>',
    '<defs><rect id="a"/><path id="b"/></defs><use href="#a"/>',
  ],
  [
    "all that is in it, and what is unknown in that",
    '<blink><g id="a"><rect/><x><circle/><circle id="b"/></x></g></blink>',
    '<defs><g id="a"><rect/><defs><circle id="b"/></defs></g></defs>',
  ],
  ["style sheets", "<x><style>a{r:1}</style></x>", "<defs><style>a{r:1}</style></defs>"],
  [
    "neither what browsers do not find there nor what changes the drawing elsewhere",
    '<x><linearGradient id="a"/><clipPath id="b"/><filter id="c"/><set id="d" href="#e" to="1"/><title id="f">t</title></x>',
    "",
  ],
  [
    "nothing of what acts, embeds or holds data",
    '<x><script id="a"/><foreignObject id="a"><rect id="b"/></foreignObject><metadata><rect id="c"/></metadata></x><q:script><rect id="d"/></q:script>',
    "",
  ],
  [
    "nothing in HTML and MathML",
    '<div xmlns="http://www.w3.org/1999/xhtml"><rect xmlns="http://www.w3.org/2000/svg" id="a"/></div><x><m:m xmlns:m="http://www.w3.org/1998/Math/MathML"><rect id="a"/></m:m></x>',
    "",
  ],
  [
    "nothing where it would be drawn or chosen",
    '<switch><x><rect id="a"/></x><g/></switch><text><x><text id="a"/></x></text><rect><x><rect id="a"/></x></rect>',
    "<switch><g/></switch><text/><rect/>",
  ],
])("cleanSvg keeps of an unknown element %s", (_, content, left) => {
  const cleaned = cleanSvg(Buffer.from(`${START}${content}</svg>`)).toString();
  expect(cleaned).toBe(left === "" ? START.replace(">", "/>") : `${START}${left}</svg>`);
  expect(cleanSvg(Buffer.from(cleaned)).toString()).toBe(cleaned);
});
