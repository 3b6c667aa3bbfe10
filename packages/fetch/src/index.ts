export { type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";
