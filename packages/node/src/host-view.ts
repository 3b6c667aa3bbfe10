/**
 * An adapter's view of its framework, as functions of the framework's own request or context. There is one
 * constant per adapter;
 * values are computed only when a request needs them.
 */
export interface HostView<Context> {
  /** `http` or `https`, according to the framework's proxy settings. */
  protocol(context: Context): string;
  /** `host` or `host:port`, according to the framework's proxy settings; absent if the request has none. */
  host(context: Context): string | undefined;
  /** The client's address, according to the framework's proxy settings. */
  clientIp(context: Context): string | undefined;
  /** Result of the host's own body parser, if any. */
  parsedBody(context: Context): unknown;
  /** Results of the host's own multipart parser, if any: files, lists of files, files by field name. */
  parsedFiles(context: Context): readonly unknown[];
}

/** Facts about a request that an adapter passes on. */
export interface RequestFacts<Context> {
  /** The request target below the mount point, with its query. */
  url: string;
  /** The mount point's path without a trailing slash; empty at the root. */
  mountPath: string;
  /** The framework's own request or context; becomes `call.context`. */
  context: Context;
  view: HostView<Context>;
}
