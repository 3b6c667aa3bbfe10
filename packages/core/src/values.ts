// Checks of errors and single values. Loads none of the services, so it is quick to load.
export { bytesText, durationText, parseDuration } from "./amounts.ts";
export { isError, systemCode } from "./errors.ts";
export { parseDate } from "./images/record/parse-date.ts";
export { sniffType } from "./images/record/sniff.ts";
export { normaliseAddress } from "./lookup/address/parse-address.ts";
