import { type Drawings, draw, each } from "./svg-drawing.ts";

/** The root element, style sheets and the text of the file. */
export function documents(): Drawings {
  const shape =
    '<path class="a b" id="p" d="M5 5h30v25z" fill="#777"/><rect class="b" x="40" y="5" width="15" height="30"/>';
  const sizes = [
    'width="60" height="40"',
    'viewBox="0 0 60 40"',
    'width="6cm" height="4cm" viewBox="0 0 60 40"',
    'width="60"',
    'height="40" viewBox="0 0 60 40"',
    'width="100%" height="100%" viewBox="0 0 60 40"',
    'width="30" height="80" viewBox="0 0 60 40"',
    'width="1e2" height="50px" viewBox="0 0 60 40"',
    'viewBox="-10 -10 90 60"',
    'style="width:90px;height:60px" viewBox="0 0 60 40"',
    'width="60.5" height="40.25"',
    'width="5" height="400"',
  ];
  const rules = [
    ".a{fill:red}",
    "#p{fill:#0a0}",
    "path{fill:blue!important}",
    ".a.b{stroke:#000;stroke-width:2}",
    "svg>.b{fill:#a0a}",
    "path+rect{fill:#0aa}",
    "*{fill:#aa0}",
    "rect:first-child,rect:last-child{fill:#555}",
    "[class~=b]{opacity:.5}",
    "@media screen{.a{fill:#f80}}",
    "@media print{.a{fill:#08f}}",
    ":root{--c:#c36}.a{fill:var(--c)}",
    ".a{fill:calc(1)}",
    "@import url(x.css);.a{fill:#36c}",
    "/* c */.a{fill:#36c;}",
    ".a{fill:#36c",
    "rect:not(.a){fill:#3c6}",
    ".b{transform:translate(2px,2px)}",
    ".b{fill:url(#none) #c3c}",
  ];
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>';
  const doctype =
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">';
  return {
    ...Object.fromEntries(sizes.map((size) => [`root ${size.replaceAll('"', "")}`, draw(shape, size)])),
    ...each("rule", rules, (rule) => `<style>${rule.replaceAll("<", "&lt;")}</style>${shape}`),
    "declaration and doctype": `${head}\n${doctype}\n${draw(shape)}`,
    "byte order mark": `\ufeff${draw(shape)}`,
    "comment first": `<!-- Generator -->${draw(shape)}`,
    "processing instruction": `<?xml-stylesheet href="x.css"?>${draw(shape)}`,
    "internal entities": `<!DOCTYPE svg [<!ENTITY c "#3a7"><!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;" width="60" height="40"><rect width="60" height="40" fill="&c;"/></svg>`,
    "prefix for every element":
      '<s:svg xmlns:s="http://www.w3.org/2000/svg" width="60" height="40"><s:rect width="30" height="40" fill="#a36"/></s:svg>',
    script: draw(`<script>document.documentElement.remove()</script>${shape}`),
    "event handler": draw(`<g onload="this.remove()">${shape}</g>`),
    "foreign object": draw(
      `${shape}<foreignObject width="20" height="20"><p xmlns="http://www.w3.org/1999/xhtml"> </p></foreignObject>`,
    ),
    background: draw(shape, 'width="60" height="40" style="background:#def"'),
    "white space and case": draw(shape, 'version="1.1" baseProfile="full"\n\t width = "60"  height= "40" '),
    CDATA: draw(`<style><![CDATA[.a{fill:#c39}]]></style>${shape}`),
    "external image": draw(`<image width="9" height="9" href="https://example.com/x.png"/>${shape}`),
  };
}
