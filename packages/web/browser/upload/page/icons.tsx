/** A picture on its way up. */
export function PictureIcon() {
  return (
    <svg class="picture" viewBox="0 0 64 56" aria-hidden="true" focusable="false">
      <rect class="paper back" x="9" y="8" width="40" height="32" rx="5" transform="rotate(-7 29 24)" />
      <rect class="paper" x="13" y="12" width="42" height="34" rx="5" />
      <circle class="sun" cx="24" cy="22" r="3.5" />
      <path class="hills" d="M16 42l11-12 7 7 7-9 11 14z" />
      <circle class="badge" cx="51" cy="43" r="10" />
      <path class="arrow" d="M51 48v-9.5M46.8 42.3l4.2-4.2 4.2 4.2" />
    </svg>
  );
}

const LINES = {
  copy: "M11 9h7a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM5 15V6a2 2 0 0 1 2-2h8",
  done: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  more: "M5 12h.01M12 12h.01M19 12h.01",
} as const;

/** A line drawing in the colour of the text. */
export function Icon({ name }: { name: keyof typeof LINES }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={LINES[name]} />
    </svg>
  );
}
