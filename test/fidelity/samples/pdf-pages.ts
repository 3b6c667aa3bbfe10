import {
  firstObjectOf,
  QUARTERS,
  type SampleObject,
  type SamplePage,
  samplePdf,
} from "../../support/pdf-samples.ts";
import { images } from "./pdf-images.ts";

const FIRST = firstObjectOf(1);
const STANDARD_FONTS = [
  "Helvetica",
  "Helvetica-Bold",
  "Helvetica-Oblique",
  "Times-Roman",
  "Times-Bold",
  "Times-Italic",
  "Courier",
  "Courier-Bold",
  "Symbol",
  "ZapfDingbats",
];

/** One-page PDFs of 60 by 40 points, one per feature of content streams, by name. */
export function pdfPages(): Record<string, Buffer> {
  const found: Record<string, Buffer> = {};
  const put = (name: string, page: SamplePage, objects: SampleObject[] = []) => {
    found[name] = samplePdf([page], objects);
  };
  for (const [name, content] of Object.entries(contents())) put(name, { content });
  for (const [name, entries] of Object.entries(boxes()))
    put(name, { content: `${QUARTERS} 0 g 3 w 5 5 m 55 30 l S`, entries });
  for (const name of STANDARD_FONTS) {
    put(`font ${name}`, {
      content: "BT /F 22 Tf 4 12 Td (Abg) Tj ET",
      resources: `/Font<</F<</Type/Font/Subtype/Type1/BaseFont/${name}>>>>`,
    });
  }
  for (const mode of [
    "Normal",
    "Multiply",
    "Screen",
    "Overlay",
    "Darken",
    "Lighten",
    "ColorDodge",
    "ColorBurn",
    "HardLight",
    "SoftLight",
    "Difference",
    "Exclusion",
    "Hue",
    "Saturation",
    "Color",
    "Luminosity",
  ]) {
    put(`blend ${mode}`, {
      content: `${QUARTERS} /B gs .3 .8 .6 rg 10 10 40 20 re f`,
      resources: `/ExtGState<</B<</BM/${mode}>>>>`,
    });
  }
  for (const opacity of [0.2, 0.5, 0.9]) {
    put(`opacity ${opacity}`, {
      content: `${QUARTERS} /A gs 0 g 10 10 40 20 re f 0 0 1 RG 6 w 5 5 m 55 35 l S`,
      resources: `/ExtGState<</A<</ca ${opacity}/CA ${opacity}>>>>`,
    });
  }
  for (const [name, shading] of Object.entries(shadings()))
    put(`shading ${name}`, { content: "/S sh", resources: `/Shading<</S<<${shading}>>>>` });
  for (const [name, space] of Object.entries(colourSpaces()))
    put(`colour space ${name}`, {
      content: space.content,
      resources: `/ColorSpace<</C ${space.definition}>>`,
    });
  for (const [name, image] of Object.entries(images()))
    put(
      `image ${name}`,
      { content: "q 50 0 0 30 5 5 cm /I Do Q", resources: `/XObject<</I ${FIRST} 0 R>>` },
      image,
    );
  const tiling = (type: number) => ({
    dictionary: `/Type/Pattern/PatternType 1/PaintType ${type}/TilingType 1/BBox[0 0 6 6]/XStep 6/YStep 6/Resources<<>>`,
    data: type === 1 ? "1 0 0 rg 0 0 3 3 re f" : "0 0 3 3 re f",
  });
  put("pattern", { content: "/Pattern cs /P scn 5 5 50 30 re f", resources: `/Pattern<</P ${FIRST} 0 R>>` }, [
    tiling(1),
  ]);
  put(
    "pattern without colour",
    {
      content: "/C cs 0 0 1 /P scn 5 5 50 30 re f",
      resources: `/ColorSpace<</C[/Pattern/DeviceRGB]>>/Pattern<</P ${FIRST} 0 R>>`,
    },
    [tiling(2)],
  );
  const form = (more: string, data = QUARTERS) => ({
    dictionary: `/Type/XObject/Subtype/Form/BBox[0 0 60 40]${more}`,
    data,
  });
  const drawn = { content: "/F Do", resources: `/XObject<</F ${FIRST} 0 R>>` };
  put("form", drawn, [form("")]);
  put("form turned", drawn, [form("/Matrix[.7 .3 -.3 .7 10 2]")]);
  put("form clipped", drawn, [{ dictionary: "/Type/XObject/Subtype/Form/BBox[10 5 40 30]", data: QUARTERS }]);
  put(
    "transparency group",
    {
      ...drawn,
      content: `${QUARTERS} /A gs /F Do`,
      resources: `${drawn.resources}/ExtGState<</A<</ca .5>>>>`,
    },
    [form("/Group<</S/Transparency/I true>>", "0 g 5 5 30 20 re f 1 g 20 15 30 20 re f")],
  );
  put(
    "soft mask of luminosity",
    { content: `/M gs ${QUARTERS}`, resources: `/ExtGState<</M<</SMask<</S/Luminosity/G ${FIRST} 0 R>>>>>>` },
    [form("/Group<</S/Transparency/CS/DeviceGray>>", "1 g 15 10 30 20 re f")],
  );
  const annotation = (more: string) => `<</Type/Annot/F 4/Rect[10 10 50 30]${more}>>`;
  const appearance = {
    dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 40 20]",
    data: "0 .5 .8 rg 0 0 40 20 re f",
  };
  for (const subtype of ["Stamp", "Square", "Highlight", "FreeText", "Widget"]) {
    const field = subtype === "Widget" ? "/FT/Btn/Ff 65536/T(b)" : "/QuadPoints[10 30 50 30 10 10 50 10]";
    found[`annotation ${subtype}`] = samplePdf(
      [{ content: QUARTERS, entries: `/Annots[${FIRST} 0 R]` }],
      [annotation(`/Subtype/${subtype}${field}/AP<</N ${FIRST + 1} 0 R>>`), appearance],
      subtype === "Widget" ? { catalogue: `/AcroForm<</Fields[${FIRST} 0 R]>>` } : {},
    );
  }
  put("hidden annotation", { content: QUARTERS, entries: `/Annots[${FIRST} 0 R]` }, [
    `<</Type/Annot/F 2/Rect[10 10 50 30]/Subtype/Stamp/AP<</N ${FIRST + 1} 0 R>>>>`,
    appearance,
  ]);
  const layer = (state: string) =>
    samplePdf(
      [
        {
          content: `${QUARTERS} /OC /L BDC 0 g 10 10 40 20 re f EMC`,
          resources: `/Properties<</L ${FIRST} 0 R>>`,
        },
      ],
      ["<</Type/OCG/Name(Layer)>>"],
      { catalogue: `/OCProperties<</OCGs[${FIRST} 0 R]/D<</${state}[${FIRST} 0 R]>>>>` },
    );
  found["layer on"] = layer("ON");
  found["layer off"] = layer("OFF");
  found["three pages"] = samplePdf([{ content: QUARTERS }, { content: "0 g 0 0 60 40 re f" }, {}]);
  return found;
}

function contents(): Record<string, string> {
  const found: Record<string, string> = {
    "no content": "",
    quarters: QUARTERS,
    curves: "3 w 1 0 0 RG 5 5 m 20 60 40 -20 55 35 c S 0 0 1 rg 5 20 m 20 40 30 5 v 30 0 5 0 y f",
    "even-odd": "0 .5 0 rg 30 38 m 45 2 l 5 25 l 55 25 l 15 2 l h f*",
    clip: `30 20 m 55 5 l 5 5 l h W n ${QUARTERS}`,
    "clip even-odd": `30 38 m 45 2 l 5 25 l 55 25 l 15 2 l h W* n ${QUARTERS}`,
    "saved states": `q .5 0 0 .5 0 0 cm ${QUARTERS} Q q .5 0 0 .5 30 20 cm ${QUARTERS} Q`,
    "unbalanced states": `q q ${QUARTERS} Q Q Q Q 0 g 20 10 20 20 re f`,
    "unknown operators": `${QUARTERS} xyz 1 2 abc BX foo EX 0 g 20 10 20 20 re f`,
    "thin lines": "0 w 5 5 m 55 35 l S .2 w 5 35 m 55 5 l S",
    "inline image":
      "q 40 0 0 30 10 5 cm BI /W 2 /H 2 /CS /RGB /BPC 8 /F /AHx ID ff000000ff000000ffffff00> EI Q",
    "fill and stroke": "0 .6 .9 rg 1 .3 0 RG 4 w 10 8 40 24 re B",
    turned: `.8 .3 -.3 .8 10 0 cm ${QUARTERS}`,
    mirrored: `-1 0 0 1 60 0 cm ${QUARTERS}`,
  };
  for (const cap of [0, 1, 2])
    for (const join of [0, 1, 2])
      found[`cap ${cap} join ${join}`] = `${cap} J ${join} j 7 w 8 8 m 30 32 l 50 8 l S`;
  for (const dash of ["[] 0", "[4] 0", "[4 2] 1", "[1 3] 0"])
    found[`dash ${dash}`] = `${dash} d 2 w 1 J 5 10 m 55 10 l 5 30 m 55 20 l S`;
  const inks = Array.from(
    { length: 16 },
    (_, index) =>
      `${[8, 4, 2, 1].map((bit) => (index & bit ? 1 : 0)).join(" ")} k ${(index % 4) * 15} ${Math.floor(index / 4) * 10} 15 10 re f`,
  );
  found.inks = inks.join(" ");
  found["weak inks"] = Array.from(
    { length: 12 },
    (_, index) => `${index / 12} ${1 - index / 12} .3 .1 k ${index * 5} 0 5 40 re f`,
  ).join(" ");
  found.greys = Array.from({ length: 12 }, (_, index) => `${index / 12} g ${index * 5} 0 5 40 re f`).join(
    " ",
  );
  return found;
}

function boxes(): Record<string, string> {
  return {
    "turned 90": "/Rotate 90",
    "turned 180": "/Rotate 180",
    "turned 270": "/Rotate 270",
    "turned -90": "/Rotate -90",
    "crop box": "/CropBox[10 5 50 35]",
    "crop box turned": "/CropBox[10 5 50 35]/Rotate 90",
    "crop box larger": "/CropBox[-20 -20 90 70]",
    "media box not at zero": "/MediaBox[-10 -5 50 35]",
    "media box backwards": "/MediaBox[60 40 0 0]",
    "trim and bleed boxes": "/TrimBox[5 5 55 35]/BleedBox[2 2 58 38]",
    "fractional box": "/MediaBox[0 0 59.5 39.25]",
    "large box": "/MediaBox[0 0 1200 800]",
    "narrow box": "/MediaBox[0 0 200 4]",
  };
}

function shadings(): Record<string, string> {
  const ramp = "/Function<</FunctionType 2/Domain[0 1]/N 1/C0[1 0 0]/C1[0 0 1]>>";
  const two =
    "<</FunctionType 2/Domain[0 1]/N 1/C0[1 0 0]/C1[0 1 0]>><</FunctionType 2/Domain[0 1]/N 2/C0[0 1 0]/C1[0 0 1]>>";
  return {
    axial: `/ShadingType 2/ColorSpace/DeviceRGB/Coords[0 0 60 40]${ramp}`,
    "axial extended": `/ShadingType 2/ColorSpace/DeviceRGB/Coords[20 20 40 20]/Extend[true true]${ramp}`,
    "axial not extended": `/ShadingType 2/ColorSpace/DeviceRGB/Coords[20 20 40 20]${ramp}`,
    "axial of two": `/ShadingType 2/ColorSpace/DeviceRGB/Coords[0 0 60 0]/Function<</FunctionType 3/Domain[0 1]/Functions[${two}]/Bounds[.4]/Encode[0 1 0 1]>>`,
    radial: `/ShadingType 3/ColorSpace/DeviceRGB/Coords[30 20 0 30 20 20]${ramp}`,
    "radial extended": `/ShadingType 3/ColorSpace/DeviceRGB/Coords[20 20 5 40 20 15]/Extend[true true]${ramp}`,
    grey: "/ShadingType 2/ColorSpace/DeviceGray/Coords[0 0 60 0]/Function<</FunctionType 2/Domain[0 1]/N 1/C0[0]/C1[1]>>",
    CMYK: "/ShadingType 2/ColorSpace/DeviceCMYK/Coords[0 0 60 0]/Function<</FunctionType 2/Domain[0 1]/N 1/C0[1 0 0 0]/C1[0 0 1 0]>>",
  };
}

function colourSpaces(): Record<string, { definition: string; content: string }> {
  const bars = (count: number) =>
    `/C cs ${Array.from({ length: 6 }, (_, index) => `${Array.from({ length: count }, (_, part) => (((index + part * 2) % 6) / 5).toFixed(2)).join(" ")} sc ${index * 10} 0 10 40 re f`).join(" ")}`;
  const white = "/WhitePoint[.9505 1 1.089]";
  return {
    CalGray: { definition: `[/CalGray<<${white}/Gamma 2.2>>]`, content: bars(1) },
    CalRGB: {
      definition: `[/CalRGB<<${white}/Gamma[2.2 2.2 2.2]/Matrix[.4124 .2126 .0193 .3576 .7151 .1192 .1805 .0722 .9505]>>]`,
      content: bars(3),
    },
    Lab: {
      definition: `[/Lab<<${white}/Range[-100 100 -100 100]>>]`,
      content: "/C cs 60 50 20 sc 0 0 30 40 re f 80 -40 30 sc 30 0 30 40 re f",
    },
    Indexed: {
      definition: "[/Indexed/DeviceRGB 2<ff000000ff000000ff>]",
      content: "/C cs 0 sc 0 0 20 40 re f 1 sc 20 0 20 40 re f 2 sc 40 0 20 40 re f",
    },
    Separation: {
      definition: "[/Separation/Spot/DeviceRGB<</FunctionType 2/Domain[0 1]/N 1/C0[1 1 1]/C1[.8 .2 0]>>]",
      content: bars(1),
    },
    "Separation to CMYK": {
      definition: "[/Separation/Spot/DeviceCMYK<</FunctionType 2/Domain[0 1]/N 1/C0[0 0 0 0]/C1[0 .8 1 0]>>]",
      content: bars(1),
    },
    DeviceN: {
      definition: "[/DeviceN[/A/B]/DeviceRGB<</FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1]/Length 0>>]",
      content: QUARTERS,
    },
  };
}
