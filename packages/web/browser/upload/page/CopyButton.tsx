import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../../sharing/copy-text.ts";
import { say } from "../store/messages.ts";
import { Icon } from "./icons.tsx";

const SHOWN_MS = 2000;

export const COPY_FAILED = "Couldn’t copy. Open the image and copy its address.";

export interface CopyButtonProps {
  text: string;
  /** Name of the copied text in the message. */
  what: string;
  onCopied?: () => void;
  /** Class of the button. */
  className?: string;
  children: ComponentChildren;
}

/** A button that copies text to the clipboard and shows the result for a moment. */
export function CopyButton({ text, what, onCopied, className = "", children }: CopyButtonProps) {
  const [result, setResult] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy(): Promise<void> {
    const isCopied = await copyText(text);
    say(isCopied ? `${what} copied.` : COPY_FAILED);
    setResult(isCopied ? "copied" : "failed");
    if (isCopied) onCopied?.();
  }

  return (
    <button type="button" class={`copier ${className} ${result ?? ""}`} onClick={() => void copy()}>
      <Icon name={result === "copied" ? "done" : "copy"} />
      <span class="words">{children}</span>
      {result !== null && (
        <span class="result" aria-hidden="true">
          {result === "copied" ? "Copied" : "Not copied"}
        </span>
      )}
    </button>
  );
}
