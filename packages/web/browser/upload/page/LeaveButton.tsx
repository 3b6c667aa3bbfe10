import { isOver, isUnfinished, type Upload } from "../store/uploads.ts";
import { CrossIcon } from "./icons.tsx";

export interface LeaveButtonProps {
  upload: Upload;
  onLeave(): void;
}

/** A button that cancels an unfinished upload or dismisses one that is over; absent for an image that is served. */
export function LeaveButton({ upload, onLeave }: LeaveButtonProps) {
  if (!isOver(upload) && !isUnfinished(upload)) return null;
  const label = `${isOver(upload) ? "Dismiss" : "Cancel"} ${upload.name}`;
  return (
    <button type="button" class="quiet round" onClick={onLeave} aria-label={label}>
      <CrossIcon />
    </button>
  );
}
