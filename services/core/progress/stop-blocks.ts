/** The last block of each reader that is to stop at one (`stop_block`). */
export function listStopBlocks(
  readers: readonly { readonly name: string; readonly stop_block: number }[],
): ReadonlyMap<string, number> {
  return new Map(readers.flatMap(({ name, stop_block }) => (stop_block === 0 ? [] : [[name, stop_block]])))
}
