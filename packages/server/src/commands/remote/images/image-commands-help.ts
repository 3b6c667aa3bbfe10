const ENVIRONMENT = `
Environment:
  OUTRIGGER_URL  as --to`;

const PIN_ENVIRONMENT = `
The PIN is that of the address, where it is the edit address; else --pin, which other users of this machine can see in
the list of processes; else OUTRIGGER_PIN, which they cannot.
${ENVIRONMENT}
  OUTRIGGER_PIN  as --pin`;

export const UPLOAD_HELP = `
Sends PNG, JPEG, GIF, SVG, PSD and PDF files, as their content shows, not their names. Prints the page to share, the
address of the image, and the one to edit it, which has its PIN: whoever knows that can change and delete the image.
${ENVIRONMENT}

Examples:
  outrigger upload photo.jpg
  outrigger upload *.png --expires 7d --to https://example.com/img
  outrigger upload poster.psd --name "Poster, final" --expires 2030-01-31T12:00:00Z
  import png:- | outrigger upload - --name screen.png
  outrigger upload --json photo.jpg | jq -r .editUrl

Exit codes: 0 all uploaded, 1 not all (the others are), 2 wrong usage, 130 ended by a signal; what was printed is there.
`;

export const GET_HELP = `
Takes any address of an image: the one to share, to edit, of a format (whose suffix and parameters count where no option
is given), or an ID together with --to. The file is named after the image. It appears when it is whole.
${ENVIRONMENT}

Examples:
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/view --as jpg --resize 800x --quality medium
  outrigger get Yk3fPq0bT1mVxR8aZ2cLdw --to https://example.com/img --as png --page 3 --output page-3.png
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --output - | display
  outrigger get https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --json | jq -r .expiresAt

Exit codes: 0 done, 1 failed: no file was made, 2 wrong usage, 130 ended by a signal: no file was made.
`;

export const EDIT_HELP = `${PIN_ENVIRONMENT}

Examples:
  outrigger edit "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…" --name sunset.jpg
  OUTRIGGER_PIN=… outrigger edit https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw --expires 2w

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 ended by a signal.
`;

export const RM_HELP = `
Its addresses answer 410 then. It cannot be undone.
${PIN_ENVIRONMENT}

Examples:
  outrigger rm "https://example.com/img/Yk3fPq0bT1mVxR8aZ2cLdw/edit?pin=…"
  outrigger upload --json photo.jpg | jq -r .editUrl | xargs outrigger rm --yes

Exit codes: 0 all deleted, 1 not all (the others are) or the answer was no, 2 wrong usage: none, 130 ended by a signal.
`;
