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
    {
      title: "a part header of 20 KiB",
      body: headed(DISPOSITION, SVG_TYPE, `X-Long: ${"x".repeat(20 * 1024)}`),
    },
    {
      title: "20,000 part headers",
      body: headed(...Array.from({ length: 20_000 }, (_, index) => `X-${index}: y`), DISPOSITION, SVG_TYPE),
    },
    {
      title: "10,000 folded header lines",
      body: headed(
        SVG_TYPE,
        'Content-Disposition: form-data; name="imagedata"',
        ...Array.from({ length: 10_000 }, () => " ;x=y"),
      ),
    },
    { title: "a header line without a colon", body: headed("Content-Disposition form-data name=imagedata") },
    {
      title: "a header line that begins with a blank (CVE-2022-24434)",
      body:
        '------WebKitFormBoundaryoo6vortfDzBsDiro\r\n Content-Disposition: form-data; name="x"\r\n\r\n\r\n' +
        "------WebKitFormBoundaryoo6vortfDzBsDiro--",
      contentType: "multipart/form-data; boundary=----WebKitFormBoundaryoo6vortfDzBsDiro",
    },
    {
      title: "a NUL in a header name",
      body: headed('Content-\0Disposition: form-data; name="imagedata"; filename="a"'),
    },
    {
      title: "a part's Content-Type with a NUL",
      body: imagePart(DRAWING, "a.svg", "image/svg+xml\0text/html") + END,
    },
    { title: "no Content-Disposition", body: headed(SVG_TYPE) },
    { title: "an empty Content-Disposition", body: headed("Content-Disposition:", SVG_TYPE) },
    {
      title: "attachment in place of form-data",
      body: headed('Content-Disposition: attachment; name="imagedata"; filename="a.svg"', SVG_TYPE),
    },
    {
      title: "a file part without a field name",
      body: headed('Content-Disposition: form-data; filename="a.svg"', SVG_TYPE),
    },
    {
      title: "a field without a name",
      body: `${part("", "x", { headers: ["Content-Disposition: form-data"] })}${VALID}`,
    },
    { title: "a file part with an empty field name", body: part("", DRAWING, { fileName: "a.svg" }) + END },
  ]),
  ...cases(
    [201],
    [{ title: "a part without Content-Type", body: part("imagedata", DRAWING, { fileName: "a.svg" }) + END }],
  ),
  ...cases(
    [201, 400, 415],
    [
      {
        title: "two Content-Dispositions",
        body: headed(DISPOSITION, 'Content-Disposition: form-data; name="other"; filename="b.svg"', SVG_TYPE),
      },
      { title: "two Content-Types", body: headed(DISPOSITION, SVG_TYPE, "Content-Type: text/html") },
      {
        title: "Content-Transfer-Encoding: base64 on a body that is not base64",
        body: headed(DISPOSITION, SVG_TYPE, "Content-Transfer-Encoding: base64"),
      },
    ],
  ),
  ...cases(UNTAKEN, [
    {
      title: "Content-Transfer-Encoding: base64 (deprecated by RFC 7578)",
      body:
        part("", Buffer.from(DRAWING).toString("base64"), {
          headers: [DISPOSITION, SVG_TYPE, "Content-Transfer-Encoding: base64"],
        }) + END,
    },
    { title: "a part with an empty Content-Type", body: imagePart(DRAWING, "a.svg", "") + END },
    {
      title: "a part's Content-Type of 10 KB",
      body: imagePart(DRAWING, "a.svg", `image/${"x".repeat(10_000)}`) + END,
    },
    { title: "a part's Content-Type of constructor", body: imagePart(DRAWING, "a.svg", "constructor") + END },
    {
      title: "a multipart within the part",
      body:
        imagePart(
          `--Y\r\nContent-Disposition: file; filename="a.svg"\r\n\r\n${DRAWING}\r\n--Y--`,
          "a",
          "multipart/mixed; boundary=Y",
        ) + END,
    },
    {
      title: "multiparts within one another, 300 deep",
      body:
        imagePart(
          "--Y\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n".repeat(300),
          "a",
          "multipart/mixed; boundary=Y",
        ) + END,
    },
    { title: "an empty file", body: imagePart("") + END },
  ]),
];
