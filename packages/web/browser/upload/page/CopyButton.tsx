import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../copy-text.ts";
import type { MessageLog } from "../store/message-log.ts";
import { CopyIcon, DoneIcon } from "./icons.tsx";

const SHOWN_MS = 2000;

export interface CopyButtonProps {
  text: string;
  /** What is copied, as it is said. */
  what: string;
  log: MessageLog;
  /** Of the button. */
  className?: string;
  children: ComponentChildren;
}

/** Puts text on the clipboard, and says so for a moment. */
export function CopyButton({ text, what, log, className = "", children }: CopyButtonProps) {
  const [result, setResult] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy(): Promise<void> {
    const isCopied = await copyText(text);
    log.say(isCopied ? `${what} copied.` : "The browser does not let this page copy.");
    setResult(isCopied ? "copied" : "failed");
  }

  return (
    <button type="button" class={`copier ${className} ${result ?? ""}`} onClick={() => void copy()}>
      {result === "copied" ? <DoneIcon /> : <CopyIcon />}
      <span class="words">{children}</span>
      {result !== null && (
        <span class="result" aria-hidden="true">
          {result === "copied" ? "Copied" : "Not copied"}
        </span>
      )}
    </button>
  );
}
