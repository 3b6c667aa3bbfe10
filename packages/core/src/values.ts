// Errors, and checks of single values. Loads none of the services, so it is quick to load.
export type { ErrorCode, ServiceErrorOptions } from "./errors.ts";
export { isError, isServiceError, ServiceError, systemCode } from "./errors.ts";
export { parseDate } from "./images/record/parse-date.ts";
export { sniffType } from "./images/record/sniff.ts";
export { normaliseAddress } from "./lookup/address/parse-address.ts";
