import type pg from 'pg'
import { FatalError } from '../../core/errors/index.ts'
import { checkSeals, readSeals, sealedKinds } from '../../core/seals/index.ts'
import { readPublishedState } from '../format/published-state.ts'
import { readSealSummary } from '../format/seal-summary.ts'
import type { Manifest } from '../format/manifest.ts'

/** Sealed kinds of row without files of their own: a dump has their rows in the files of rows that may still change. */
const ofChangingRows = sealedKinds.filter((kind) => kind.isOfChangingRows).map(({ name }) => name)

/**
 * Compares chain, readers and seals of the database with the manifest, also the seals of each file, and computes the
 * seals of mints.
 *
 * @throws FatalError `DUMP_DAMAGED`.
 */
export async function checkRestored(client: pg.ClientBase, manifest: Manifest): Promise<void> {
  const { chain_id: chain, readers } = manifest
  if (JSON.stringify(await readPublishedState(client)) !== JSON.stringify({ chain_id: chain, readers }))
    throw new FatalError(
      'DUMP_DAMAGED',
      'the chain or the readers of the dump differ from those in the manifest',
    )
  const kinds = await readSeals(client)
  const found = await readSealSummary(client)
  const { seals } = manifest
  if (JSON.stringify(found) !== JSON.stringify(seals))
    throw new FatalError('DUMP_DAMAGED', 'the seals of the dump differ from those in the manifest')
  const inFiles = new Map<string, string>()
  for (const { files } of manifest.tables)
    for (const { sealed } of files)
      for (const [first, rowsOf, digestOf] of sealed?.ranges ?? [])
        inFiles.set(`${sealed!.kind} ${first}`, `${rowsOf} ${digestOf}`)
  for (const { kind, seals: ranges } of kinds) {
    if (ofChangingRows.includes(kind)) continue
    for (const range of ranges)
      if (inFiles.get(`${kind} ${range.firstBlock}`) !== `${range.rows} ${range.digest}`)
        throw new FatalError(
          'DUMP_DAMAGED',
          `the files of the dump differ from the seal of ${kind} from block ${range.firstBlock} on`,
        )
  }
  const { changed } = await checkSeals(client, { kinds: ofChangingRows })
  const [wrong] = changed
  if (wrong)
    throw new FatalError(
      'DUMP_DAMAGED',
      `${wrong.kind}: the rows from block ${wrong.firstBlock} do not match their seal`,
    )
}
