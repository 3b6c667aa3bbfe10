import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { MAX_NAME_LENGTH } from "../store/next-options.ts";
import { PenIcon } from "./icons.tsx";

export interface NameFieldProps {
  /** ID of the field. */
  id?: string | undefined;
  name: string;
  isFixed: boolean;
  /** Resolves with the reason why the name was not changed; `null` when it was. */
  onName(name: string): Promise<string | null>;
}

/** The name as an editable field. Enter and leaving the field save; Escape restores. */
export function NameField({ id, name, isFixed, onName }: NameFieldProps) {
  const [problem, setProblem] = useState<string | null>(null);

  async function keep(field: HTMLInputElement): Promise<void> {
    const chosen = field.value.trim();
    if (chosen === "" || chosen === name) {
      field.value = name;
      return;
    }
    const reason = await onName(chosen);
    setProblem(reason);
    if (reason !== null) field.value = name;
  }

  function press(event: TargetedKeyboardEvent<HTMLInputElement>): void {
    const field = event.currentTarget;
    if (event.key === "Enter") void keep(field);
    if (event.key === "Escape") field.value = name;
  }

  return (
    <div class="name">
      {isFixed ? (
        <p class="title" dir="auto">
          {name}
        </p>
      ) : (
        <>
          <input
            id={id}
            class="title"
            type="text"
            dir="auto"
            aria-label={`Name of ${name}`}
            value={name}
            maxLength={MAX_NAME_LENGTH}
            autocomplete="off"
            spellcheck={false}
            onKeyDown={press}
            onBlur={({ currentTarget }) => void keep(currentTarget)}
          />
          <PenIcon />
        </>
      )}
      {problem !== null && <p class="trouble">Not renamed. {problem}</p>}
    </div>
  );
}
