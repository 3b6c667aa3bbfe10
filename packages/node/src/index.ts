export { ClientLeftError, onConnectionClose } from "./connection-close.ts";
export { type AnyServer, type Connections, trackConnections } from "./connections.ts";
export { type Closable, createShutdown, type ShutdownOptions } from "./create-shutdown.ts";
export { createCall, dispatch, sendAtHand } from "./dispatch.ts";
export { deferContinue } from "./expect-continue.ts";
export type { HostView, RequestFacts } from "./host-view.ts";
export { type NodeListener, type NodeListenerOptions, nodeListener, nodeView } from "./node-listener.ts";
export {
  hasSeveralHosts,
  locate,
  mountPathRule,
  normaliseMountPath,
  type Place,
  stripPrefix,
  toOriginForm,
} from "./request-target.ts";
export { isBodyAllowed, sendReply } from "./send-reply.ts";
export { finishRequestBody } from "./unread-body.ts";
export { watchSending } from "./watch-sending.ts";
