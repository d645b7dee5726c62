/** The `stop_block` of each reader that has one. */
export function listStopBlocks(
  readers: readonly { readonly name: string; readonly stop_block: number }[],
): ReadonlyMap<string, number> {
  return new Map(readers.flatMap(({ name, stop_block }) => (stop_block === 0 ? [] : [[name, stop_block]])))
}
