// Errors, and checks of single values. Loads none of the services: render processes start with it.
export { bytesText, durationText } from "./amounts.ts";
export { MAX_PAGE_RUNS } from "./contracts/renderer.ts";
export { accessReason, isError, isServiceError, ServiceError, systemCode } from "./errors.ts";
export { parseDate } from "./images/record/parse-date.ts";
export { sniffType } from "./images/record/sniff.ts";
export { normaliseAddress } from "./lookup/address/parse-address.ts";
export { memoized } from "./lookup/memoized.ts";
export { parsedUrl } from "./parsed-url.ts";
