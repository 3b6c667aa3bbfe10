export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";
