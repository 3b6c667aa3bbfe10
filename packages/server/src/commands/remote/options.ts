import type { AddressFormat } from "@outrigger/client";

// Every start of the command loads this module: it loads no other.

/** The variable that names the service, and the default of `outrigger serve`. */
export const URL_VARIABLE = "OUTRIGGER_URL";
export const DEFAULT_URL = "http://127.0.0.1:3000";

/** Help text of `--to`. */
export const TO_HELP = `address at which the service is mounted (default: ${URL_VARIABLE} or ${DEFAULT_URL})`;

/** Values of `--as`, which also accepts `jpeg` for `jpg`. */
export const FORMATS: readonly AddressFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
