/** Holds back what is about to be sent while the server wants a pause or the browser is offline. */
export interface SendGate {
  /** Lets nothing pass before this Unix time, milliseconds. */
  holdUntil(ms: number): void;
  /** Resolves when something may be sent. `onWait` is told why that is not yet so, and until when. */
  pass(onWait: (wait: SendWait) => void): Promise<void>;
}

export type SendWait = { cause: "offline"; untilMs: null } | { cause: "busy"; untilMs: number };

export function createSendGate(): SendGate {
  let heldUntilMs = 0;
  return {
    holdUntil(ms) {
      heldUntilMs = Math.max(heldUntilMs, ms);
    },
    async pass(onWait) {
      for (;;) {
        if (!navigator.onLine) {
          onWait({ cause: "offline", untilMs: null });
          await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
        } else if (heldUntilMs > Date.now()) {
          onWait({ cause: "busy", untilMs: heldUntilMs });
          const leftMs = heldUntilMs - Date.now();
          await new Promise((resolve) => setTimeout(resolve, leftMs));
        } else return;
      }
    },
  };
}
