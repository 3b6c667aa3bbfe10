/**
 * What an adapter knows about its framework, as functions of the framework's own request or context: one constant per
 * adapter, so that nothing is computed for a request that does not ask.
 */
export interface HostView<Context> {
  /** `http` or `https`, as the framework's proxy settings see it. */
  protocol(context: Context): string;
  /** `host` or `host:port`, as the framework's proxy settings see it; absent when the request had none. */
  host(context: Context): string | undefined;
  /** The client's address, as the framework's proxy settings see it. */
  clientIp(context: Context): string | undefined;
  /** What the host's own body parser left behind, if anything. */
  parsedBody(context: Context): unknown;
  /** What the host's own multipart parser left behind, if anything: files, lists of files, files by field name. */
  parsedFiles(context: Context): readonly unknown[];
}

/** A request as an adapter hands it over. */
export interface RequestFacts<Context> {
  /** The request target below the mount point, with its query. */
  url: string;
  /** The mount point's path without a trailing slash; empty at the root. */
  mountPath: string;
  /** The framework's own request or context; becomes `call.context`. */
  context: Context;
  view: HostView<Context>;
}
