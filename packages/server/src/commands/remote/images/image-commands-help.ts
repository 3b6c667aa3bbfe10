const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL  same as --to`;

const PIN_ENVIRONMENT = `
The PIN comes from the edit address, otherwise from --pin, otherwise from OUTRIGGER_PIN. Other users of this machine can
see --pin in the list of processes, but not the environment.
${ENVIRONMENT}
  OUTRIGGER_PIN  same as --pin`;

export const UPLOAD_HELP = `
Uploads PNG, JPEG, GIF, SVG, PSD and PDF files. The type is detected from the content, not from the name. Prints the page to
share, the address of the image, and the edit address. The edit address has the PIN, which allows changing and deleting the
image: keep it private. A URL is fetched by the service, if its option images.importUrls permits that.
${ENVIRONMENT}

Examples:
  outrigger upload photo.jpg
  outrigger upload https://example.com/harbour.jpg
  outrigger upload *.png --expires 7d --to https://example.com/img
  outrigger upload poster.psd --name "Poster, final" --expires 2030-01-31T12:00:00Z
  import png:- | outrigger upload - --name screen.png
  outrigger upload --json photo.jpg | jq -r .editUrl

Exit codes: 0 all uploaded, 1 some failed, 2 invalid usage, 130 ended by a signal; printed images are stored.
`;

export const GET_HELP = `
Accepts any address of an image, or an ID with --to. The suffix and parameters of an address apply unless options override
them. The file is named after the image and appears only when it is complete.
${ENVIRONMENT}

Examples:
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/view --as jpg --resize 800x --quality medium
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --as webp --resize 256x256 --fit cover --at attention
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --as avif --quality auto
  outrigger get Yk3fPq0bT1mVxR8aZ2cLdw --to https://example.com/img --as png --page 3 --output page-3.png
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --output - | display
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --json | jq -r .expiresAt

Exit codes: 0 done, 1 failed without a file, 2 invalid usage, 130 ended by a signal without a file.
`;

export const EDIT_HELP = `${PIN_ENVIRONMENT}

Examples:
  outrigger edit "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…" --name sunset.jpg
  OUTRIGGER_PIN=… outrigger edit https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --expires 2w
  OUTRIGGER_PIN=… outrigger edit https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --focus 0.5,0.2

Exit codes: 0 done, 1 failed, 2 invalid usage, 130 ended by a signal.
`;

export const RM_HELP = `
The addresses of a deleted image answer 410. This cannot be undone.
${PIN_ENVIRONMENT}

Examples:
  outrigger rm "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…"
  outrigger upload --json photo.jpg | jq -r .editUrl | xargs outrigger rm --yes

Exit codes: 0 all deleted, 1 some failed or the answer was no, 2 invalid usage, nothing done, 130 ended by a signal.
`;
