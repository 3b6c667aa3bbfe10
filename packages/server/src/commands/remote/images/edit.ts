import { jsonText } from "../../../cli/json-text.ts";
import { printOut } from "../../../cli/print-out.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { imagesClientAt } from "../clients.ts";
import { doOne } from "../do-each.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { imageTargetOf, pinOf } from "./image-target.ts";
import { imageText } from "./image-text.ts";

/** The options of `outrigger edit`, proved. */
export interface EditFlags {
  to?: string;
  pin?: string;
  name?: string;
  expires?: Date;
  json?: boolean;
}

/** `outrigger edit`: gives an image another name or end, and prints what it is then. */
export async function edit(address: string, flags: EditFlags): Promise<void> {
  const { name, expires, json = false } = flags;
  const target = imageTargetOf(address, flags.to);
  const pin = pinOf(target, flags.pin);
  if (name === undefined && expires === undefined) {
    throw new ConfigError("The command line", ["--name or --expires: one of them must be given"]);
  }
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
  const { baseUrl, id } = target;
  const client = imagesClientAt(baseUrl);
  await untilInterrupted(async (signal) => {
    const image = await doOne(id, baseUrl, () => client.edit(id, pin, change, { signal }));
    printOut(json ? jsonText(image) : imageText(image));
  });
}
