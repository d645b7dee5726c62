/** Maps the name of each reader with a `stop_block` to the number of this block. */
export function listStopBlocks(
  readers: readonly { readonly name: string; readonly stop_block: number }[],
): ReadonlyMap<string, number> {
  return new Map(readers.flatMap(({ name, stop_block }) => (stop_block === 0 ? [] : [[name, stop_block]])))
}
