/** The reason with which `call.signal` aborts. */
export class ClientLeftError extends Error {
  readonly code = "CLIENT_LEFT";

  constructor() {
    super("The client closed the connection before there was a reply");
    this.name = "AbortError";
  }
}
