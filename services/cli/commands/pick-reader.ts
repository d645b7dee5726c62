import { FatalError } from '../../core/errors/index.ts'

/** Finds the reader with this name; without a name, the only reader. @throws FatalError `USAGE`. */
export function pickReader<R extends { readonly name: string }>(
  readers: readonly R[],
  wanted: string | undefined,
): R {
  const found =
    wanted === undefined && readers.length === 1 ? readers[0] : readers.find(({ name }) => name === wanted)
  if (found) return found
  const names = readers.map(({ name }) => name).join(', ')
  throw new FatalError(
    'USAGE',
    wanted === undefined
      ? `readers.config.json has several readers: select one with --reader: ${names}`
      : `readers.config.json has no reader ${wanted}; --reader can be: ${names}`,
  )
}
