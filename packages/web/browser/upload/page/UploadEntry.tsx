import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ChevronIcon } from "./icons.tsx";
import { UploadCard, type UploadCardProps } from "./UploadCard.tsx";
import { UploadRow } from "./UploadRow.tsx";

export interface UploadEntryProps extends Omit<UploadCardProps, "toggle"> {
  /** Whether the list is long: an entry that is added to it is a row. */
  isCompact: boolean;
}

/** An entry of the list: a card, or a row that expands to one. A card stays one when the list grows: it may be in use. */
export function UploadEntry({ isCompact, ...props }: UploadEntryProps) {
  const [wasAddedAsRow] = useState(isCompact);
  const [isExpanded, setExpanded] = useState(!wasAddedAsRow);
  const button = useRef<HTMLButtonElement>(null);
  const wasExpanded = useRef(isExpanded);

  // The row and the card have a button each.
  useLayoutEffect(() => {
    if (wasExpanded.current !== isExpanded) button.current?.focus();
    wasExpanded.current = isExpanded;
  }, [isExpanded]);

  const toggle = (isCompact || wasAddedAsRow) && (
    <button
      type="button"
      ref={button}
      class="quiet round toggle"
      aria-expanded={isExpanded}
      aria-label={`Details of ${props.upload.name}`}
      onClick={() => setExpanded(!isExpanded)}
    >
      <ChevronIcon />
    </button>
  );
  const Shape = isExpanded ? UploadCard : UploadRow;
  return <Shape {...props} toggle={toggle} />;
}
