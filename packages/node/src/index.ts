export { ClientLeftError, onConnectionClose } from "./connection-close.ts";
export { type AnyServer, type Connections, trackConnections } from "./connections.ts";
export { type Closable, createShutdown, type ShutdownOptions } from "./create-shutdown.ts";
export { createCall, dispatch, sendReady } from "./dispatch.ts";
export { dropLateCookies } from "./drop-cookies.ts";
export { deferContinue } from "./expect-continue.ts";
export { receiveFields, receiveText } from "./fields/receive-fields.ts";
export { type FrontOptions, front } from "./front.ts";
export type { HostView, RequestFacts } from "./host-view.ts";
export type { Incoming } from "./incoming.ts";
export { type NodeListener, type NodeListenerOptions, nodeListener, nodeView } from "./node-listener.ts";
export { problemReply } from "./problem-reply.ts";
export {
  hasSeveralHosts,
  locate,
  mountPathRule,
  normaliseMountPath,
  type Place,
  stripPrefix,
  toOriginForm,
} from "./request-target.ts";
export { sendDirectly } from "./send-directly.ts";
export { isBodyAllowed, sendReply } from "./send-reply.ts";
export { finishRequestBody, linger } from "./unread-body.ts";
export { type MulterFile, type OutriggerStorage, outriggerStorage } from "./upload/multer-storage.ts";
export { type HostParsed, receiveUpload } from "./upload/receive-upload.ts";
export { watchSending } from "./watch-sending.ts";
