import {
  BAD,
  cases,
  DRAWING,
  EITHER,
  END,
  type HostileUpload,
  headed,
  imagePart,
  VALID,
} from "./hostile-upload.ts";

/** Bodies whose file has an unusual name. */
export const FILE_NAMES: readonly HostileUpload[] = [
  ...cases(BAD, [
    { title: "invalid UTF-8 in the file name", body: imagePart(DRAWING, "a\xff.svg") + END },
    { title: "a file name of 100 KB", body: imagePart(DRAWING, "n".repeat(100_000)) + END },
    {
      title: "invalid UTF-8 in filename*",
      body: headed(
        "Content-Disposition: form-data; name=imagedata; filename*=UTF-8''%ff",
        "Content-Type: image/svg+xml",
      ),
    },
  ]),
  ...cases(
    [201],
    [
      { title: "a file name with a path", body: imagePart(DRAWING, "../../../etc/passwd") + END },
      {
        title: "a file name with a Windows path",
        body: imagePart(DRAWING, "C:\\\\Windows\\\\system32\\\\a.svg") + END,
      },
      {
        title: "a file name with an escaped line end",
        body: imagePart(DRAWING, "a%0D%0ASet-Cookie: x=1.svg") + END,
      },
      { title: "a file name of 10 KB", body: imagePart(DRAWING, "n".repeat(10_000)) + END },
      { title: "a file name of emoji", body: Buffer.from(imagePart(DRAWING, "👩‍👩‍👧‍👦.svg") + END) },
      {
        title: "a file name with a right-to-left override",
        body: Buffer.from(imagePart(DRAWING, "gpj\u202egvs.svg") + END),
      },
      { title: "a file name of markup", body: imagePart(DRAWING, "<script>alert(1)</script>.html") + END },
      { title: "a file name of __proto__", body: imagePart(DRAWING, "__proto__") + END },
    ],
  ),
  ...cases(EITHER, [
    { title: "a NUL in the file name", body: imagePart(DRAWING, "a\0.svg") + END },
    { title: "a bare carriage return in the file name", body: imagePart(DRAWING, "a\rb.svg") + END },
    { title: "a line end in the file name", body: imagePart(DRAWING, "a\r\nSet-Cookie: x=1") + END },
    { title: "an unterminated quote around the file name", body: VALID.replace('a.svg"', "a.svg") },
    {
      title: "a filename* with an unknown charset",
      body: headed(
        "Content-Disposition: form-data; name=imagedata; filename*=bogus''x",
        "Content-Type: image/svg+xml",
      ),
    },
    {
      title: "a malformed filename*",
      body: headed(
        "Content-Disposition: form-data; name=imagedata; filename*='''%%%",
        "Content-Type: image/svg+xml",
      ),
    },
    { title: "an empty name for a file with bytes", body: imagePart(DRAWING, "") + END },
  ]),
  // The raw request of expressjs/multer#1338, with its part renamed.
  ...cases(BAD, [
    {
      title: "the malformed request of CVE-2025-7338",
      body:
        '------FormBoundary\r\nContent-Disposition: form-data; name="imagedata"; filename=""\r\n' +
        "Content-Type: application/octet-stream\r\n\r\n\r\n------FormBoundar",
      contentType: "multipart/form-data; boundary=----FormBoundary",
    },
    {
      title: "the malformed request of CVE-2025-7338 with a file name",
      body:
        '------FormBoundary\r\nContent-Disposition: form-data; name="imagedata"; filename="a"\r\n' +
        "Content-Type: application/octet-stream\r\n\r\n\r\n------FormBoundar",
      contentType: "multipart/form-data; boundary=----FormBoundary",
    },
  ]),
];
