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
    ["invalid UTF-8 in the file name", imagePart(DRAWING, "a\xff.svg") + END],
    ["a file name of 100 KB", imagePart(DRAWING, "n".repeat(100_000)) + END],
    [
      "invalid UTF-8 in filename*",
      headed(
        "Content-Disposition: form-data; name=imagedata; filename*=UTF-8''%ff",
        "Content-Type: image/svg+xml",
      ),
    ],
  ]),
  ...cases(
    [201],
    [
      ["a file name with a path", imagePart(DRAWING, "../../../etc/passwd") + END],
      ["a file name with a Windows path", imagePart(DRAWING, "C:\\\\Windows\\\\system32\\\\a.svg") + END],
      ["a file name with an escaped line end", imagePart(DRAWING, "a%0D%0ASet-Cookie: x=1.svg") + END],
      ["a file name of 10 KB", imagePart(DRAWING, "n".repeat(10_000)) + END],
      ["a file name of emoji", Buffer.from(imagePart(DRAWING, "👩‍👩‍👧‍👦.svg") + END)],
      [
        "a file name with a right-to-left override",
        Buffer.from(imagePart(DRAWING, "gpj\u202egvs.svg") + END),
      ],
      ["a file name of markup", imagePart(DRAWING, "<script>alert(1)</script>.html") + END],
      ["a file name of __proto__", imagePart(DRAWING, "__proto__") + END],
    ],
  ),
  ...cases(EITHER, [
    ["a NUL in the file name", imagePart(DRAWING, "a\0.svg") + END],
    ["a bare carriage return in the file name", imagePart(DRAWING, "a\rb.svg") + END],
    ["a line end in the file name", imagePart(DRAWING, "a\r\nSet-Cookie: x=1") + END],
    ["an unterminated quote around the file name", VALID.replace('a.svg"', "a.svg")],
    [
      "a filename* with an unknown charset",
      headed(
        "Content-Disposition: form-data; name=imagedata; filename*=bogus''x",
        "Content-Type: image/svg+xml",
      ),
    ],
    [
      "a malformed filename*",
      headed(
        "Content-Disposition: form-data; name=imagedata; filename*='''%%%",
        "Content-Type: image/svg+xml",
      ),
    ],
    ["an empty name for a file with bytes", imagePart(DRAWING, "") + END],
  ]),
  // The raw request of expressjs/multer#1338, with its part renamed.
  ...cases(BAD, [
    [
      "the malformed request of CVE-2025-7338",
      '------FormBoundary\r\nContent-Disposition: form-data; name="imagedata"; filename=""\r\n' +
        "Content-Type: application/octet-stream\r\n\r\n\r\n------FormBoundar",
      { contentType: "multipart/form-data; boundary=----FormBoundary" },
    ],
    [
      "the malformed request of CVE-2025-7338 with a file name",
      '------FormBoundary\r\nContent-Disposition: form-data; name="imagedata"; filename="a"\r\n' +
        "Content-Type: application/octet-stream\r\n\r\n\r\n------FormBoundar",
      { contentType: "multipart/form-data; boundary=----FormBoundary" },
    ],
  ]),
];
