import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface ConfirmedButtonProps {
  /** Accessible name of the button, e.g. `Delete boat.jpg`. */
  label: string;
  question: string;
  /** Text of the button that confirms. */
  yes: string;
  no: string;
  onConfirmed(): void;
  children: ComponentChildren;
}

/** A button that asks for confirmation in place. Escape cancels. */
export function ConfirmedButton({ label, question, yes, no, onConfirmed, children }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const refusal = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);

  // Before the first paint, so that a key pressed immediately reaches the focused button.
  useLayoutEffect(() => {
    if (isAsking) refusal.current?.focus();
    else if (wasAsking.current) button.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);

  if (!isAsking) {
    return (
      <button type="button" ref={button} class="quiet" aria-label={label} onClick={() => setAsking(true)}>
        {children}
      </button>
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      class="question"
      role="group"
      aria-label={question}
      onKeyDown={({ key }) => {
        if (key === "Escape") setAsking(false);
      }}
    >
      <span>{question}</span>
      <button
        type="button"
        class="small harmful"
        onClick={() => {
          setAsking(false);
          onConfirmed();
        }}
      >
        {yes}
      </button>
      <button type="button" class="small plain" ref={refusal} onClick={() => setAsking(false)}>
        {no}
      </button>
    </div>
  );
}
