export { ClientLeftError, onConnectionClose } from "./connection-close.ts";
export { createCall, dispatch, sendAtHand } from "./dispatch.ts";
export { deferContinue } from "./expect-continue.ts";
export type { HostView, RequestFacts } from "./host-view.ts";
export { type NodeListenerOptions, nodeListener } from "./node-listener.ts";
export {
  hasSeveralHosts,
  mountPathRule,
  normaliseMountPath,
  stripPrefix,
  toOriginForm,
} from "./request-target.ts";
export { isBodyAllowed, sendReply } from "./send-reply.ts";
export { finishRequestBody } from "./unread-body.ts";
export { watchSending } from "./watch-sending.ts";
