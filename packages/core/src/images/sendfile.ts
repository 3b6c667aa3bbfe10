import { type BlobStore, isLocalStore } from "../contracts/blob-store.ts";
import { nested, type Options, oneOf, refined, required, text } from "../option-rules.ts";

const SENDFILE_RULES = {
  /** Header that names the file. `X-Accel-Redirect`: nginx. `X-Sendfile`: lighttpd. */
  header: required(oneOf("X-Accel-Redirect", "X-Sendfile")),
  /**
   * Required with `X-Accel-Redirect`, and only there: path of nginx's internal location for the files, such as
   * `/outrigger-files/`.
   * @default none
   */
  prefix: text(
    "a path that begins and ends with a slash, such as /outrigger-files/",
    (path) => /^\/(?:[\w.~-]+\/)+$/.test(path) && !/\/\.{1,2}\//.test(path),
  ),
};

/** How a proxy sends large originals. */
export interface SendfileOptions extends Options<typeof SENDFILE_RULES> {}

/** The rule of the option `sendfile`. */
export const SENDFILE_RULE = refined(nested(SENDFILE_RULES), ({ header, prefix }: SendfileOptions) => {
  const needsPrefix = header === "X-Accel-Redirect";
  if (needsPrefix === (prefix !== undefined)) return [];
  const problem = needsPrefix
    ? "is required for X-Accel-Redirect: the path of nginx's internal location"
    : "is only for X-Accel-Redirect: X-Sendfile names the whole path of a file";
  return [{ path: ".prefix", text: problem }];
});

/** Checks that a proxy can have files to send. @throws TypeError */
export function requireFiles(sendfile: SendfileOptions | undefined, originals: BlobStore): void {
  if (sendfile === undefined || isLocalStore(originals)) return;
  throw new TypeError(
    "sendfile needs originals in a directory, as of createFsBlobStore: this storage has no files to send.",
  );
}
