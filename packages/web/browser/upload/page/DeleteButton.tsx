import { useState } from "preact/hooks";
import type { ImageActions } from "../image-actions.ts";
import type { SavedImage } from "../store/saved-image.ts";
import { ConfirmedButton } from "./ConfirmedButton.tsx";
import { BinIcon } from "./icons.tsx";

export interface DeleteButtonProps {
  image: SavedImage;
  images: ImageActions;
  onDeleted(): void;
}

/** A button that deletes an image from the server after confirmation. */
export function DeleteButton({ image, images, onDeleted }: DeleteButtonProps) {
  const [problem, setProblem] = useState<string | null>(null);

  async function remove(): Promise<void> {
    const reason = await images.remove(image);
    setProblem(reason);
    if (reason === null) onDeleted();
  }

  return (
    <>
      <ConfirmedButton
        label={`Delete ${image.name}`}
        question="Delete this image for everyone?"
        yes="Delete"
        no="Cancel"
        onConfirmed={() => void remove()}
      >
        <BinIcon /> Delete
      </ConfirmedButton>
      {problem !== null && <p class="trouble">Not deleted. {problem}</p>}
    </>
  );
}
