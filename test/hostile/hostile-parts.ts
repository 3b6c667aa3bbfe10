import {
  BAD,
  cases,
  DRAWING,
  END,
  type HostileUpload,
  headed,
  imagePart,
  part,
  UNTAKEN,
  VALID,
} from "./hostile-upload.ts";

const DISPOSITION = 'Content-Disposition: form-data; name="imagedata"; filename="a.svg"';
const SVG_TYPE = "Content-Type: image/svg+xml";

/** Bodies with wrong part headers. */
export const PART_HEADERS: readonly HostileUpload[] = [
  ...cases(BAD, [
    ["a part header of 20 KiB", headed(DISPOSITION, SVG_TYPE, `X-Long: ${"x".repeat(20 * 1024)}`)],
    [
      "20,000 part headers",
      headed(...Array.from({ length: 20_000 }, (_, index) => `X-${index}: y`), DISPOSITION, SVG_TYPE),
    ],
    [
      "10,000 folded header lines",
      headed(
        SVG_TYPE,
        'Content-Disposition: form-data; name="imagedata"',
        ...Array.from({ length: 10_000 }, () => " ;x=y"),
      ),
    ],
    ["a header line without a colon", headed("Content-Disposition form-data name=imagedata")],
    [
      "a header line that begins with a blank (CVE-2022-24434)",
      '------WebKitFormBoundaryoo6vortfDzBsDiro\r\n Content-Disposition: form-data; name="x"\r\n\r\n\r\n' +
        "------WebKitFormBoundaryoo6vortfDzBsDiro--",
      { contentType: "multipart/form-data; boundary=----WebKitFormBoundaryoo6vortfDzBsDiro" },
    ],
    ["a NUL in a header name", headed('Content-\0Disposition: form-data; name="imagedata"; filename="a"')],
    ["a part's Content-Type with a NUL", imagePart(DRAWING, "a.svg", "image/svg+xml\0text/html") + END],
    ["no Content-Disposition", headed(SVG_TYPE)],
    ["an empty Content-Disposition", headed("Content-Disposition:", SVG_TYPE)],
    [
      "attachment in place of form-data",
      headed('Content-Disposition: attachment; name="imagedata"; filename="a.svg"', SVG_TYPE),
    ],
    [
      "a file part without a field name",
      headed('Content-Disposition: form-data; filename="a.svg"', SVG_TYPE),
    ],
    ["a field without a name", `${part("", "x", { headers: ["Content-Disposition: form-data"] })}${VALID}`],
    ["a file part with an empty field name", part("", DRAWING, { fileName: "a.svg" }) + END],
  ]),
  ...cases(
    [201],
    [
      ["a part without Content-Type", part("imagedata", DRAWING, { fileName: "a.svg" }) + END],
      ["a part with an empty Content-Type", imagePart(DRAWING, "a.svg", "") + END],
    ],
  ),
  ...cases(
    [201, 400, 415],
    [
      [
        "two Content-Dispositions",
        headed(DISPOSITION, 'Content-Disposition: form-data; name="other"; filename="b.svg"', SVG_TYPE),
      ],
      ["two Content-Types", headed(DISPOSITION, SVG_TYPE, "Content-Type: text/html")],
      [
        "Content-Transfer-Encoding: base64 on a body that is not base64",
        headed(DISPOSITION, SVG_TYPE, "Content-Transfer-Encoding: base64"),
      ],
    ],
  ),
  ...cases(UNTAKEN, [
    [
      "Content-Transfer-Encoding: base64 (deprecated by RFC 7578)",
      part("", Buffer.from(DRAWING).toString("base64"), {
        headers: [DISPOSITION, SVG_TYPE, "Content-Transfer-Encoding: base64"],
      }) + END,
    ],
    ["a part's Content-Type of 10 KB", imagePart(DRAWING, "a.svg", `image/${"x".repeat(10_000)}`) + END],
    ["a part's Content-Type of constructor", imagePart(DRAWING, "a.svg", "constructor") + END],
    [
      "a multipart within the part",
      imagePart(
        `--Y\r\nContent-Disposition: file; filename="a.svg"\r\n\r\n${DRAWING}\r\n--Y--`,
        "a",
        "multipart/mixed; boundary=Y",
      ) + END,
    ],
    [
      "multiparts within one another, 300 deep",
      imagePart(
        "--Y\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n".repeat(300),
        "a",
        "multipart/mixed; boundary=Y",
      ) + END,
    ],
    ["an empty file", imagePart("") + END],
  ]),
];
