import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../../src/texts.ts";
import { copyText } from "../../sharing/copy-text.ts";
import { say } from "../store/messages.ts";
import { Icon } from "./icons.tsx";

const SHOWN_MS = 2000;

export interface CopyButtonProps {
  text: string;
  /** Announced once the text is copied. */
  said: string;
  /** Name of the button. Absent: its text. */
  label?: string;
  onCopied?: () => void;
  /** Class of the button. */
  className?: string;
  children: ComponentChildren;
}

/** A button that copies text to the clipboard and shows the result for a moment. */
export function CopyButton({ text, said, label, onCopied, className = "", children }: CopyButtonProps) {
  const [result, setResult] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  async function copy(): Promise<void> {
    const isCopied = await copyText(text);
    say(isCopied ? said : t("uploads.copyFailed"));
    setResult(isCopied ? "copied" : "failed");
    if (isCopied) onCopied?.();
  }

  return (
    <button
      type="button"
      aria-label={result === null ? label : undefined}
      class={`copier ${className} ${result ?? ""}`}
      onClick={() => void copy()}
    >
      <Icon name={result === "copied" ? "done" : "copy"} />
      <span class="words">{children}</span>
      {result !== null && (
        <span class="result" aria-hidden="true">
          {t(result === "copied" ? "uploads.copied" : "uploads.notCopied")}
        </span>
      )}
    </button>
  );
}
