import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface ConfirmedButtonProps {
  /** What the button does, e.g. `Delete boat.jpg`. */
  label: string;
  question: string;
  /** Of the button that does it. */
  yes: string;
  no: string;
  onConfirmed(): void;
  children: ComponentChildren;
}

/** A button that asks back, where it stands. Escape is a no. */
export function ConfirmedButton({ label, question, yes, no, onConfirmed, children }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const refusal = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);

  // Before anything is painted: a key that is pressed at once must find the focus where it belongs.
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
