/** Whether `work` settles within `ms`, by success or failure; `null` waits without a limit. */
export async function isSettledWithin(work: Promise<unknown>, ms: number | null): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  if (ms === null) return settled;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
