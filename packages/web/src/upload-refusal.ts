const MESSAGES: ReadonlyMap<number, string> = new Map([
  [401, "You don’t have permission to upload here."],
  [403, "You can’t upload this here."],
  [408, "The upload was too slow. Check your connection and try again."],
  [413, "This file is too large for the server."],
  [415, "This file can’t be read as an image."],
  [429, "Upload limit reached."],
  [503, "The server is busy."],
  [507, "The server is out of storage. Try again later."],
]);

/** Why an upload was refused, by the status of the reply. */
export function uploadRefusal(status: number): string {
  const unknown =
    status >= 500 ? "Something went wrong on the server." : "The server did not accept this upload.";
  return MESSAGES.get(status) ?? unknown;
}

/** The server's own reason as a sentence. It calls the file by the name of its field, and may quote a decoder. */
export function quoted(detail: string): string {
  if (/^This cannot be read as \S+: \w+: /.test(detail)) return "It is damaged or incomplete.";
  return `The server says: “${detail.replace(/^imagedata\b/, "The file").replace(/\.$/, "")}.”`;
}
