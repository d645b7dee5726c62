import { requireSchema } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { ComparedSeals } from '../../core/seals/compare/index.ts'
import type { CheckedSeals, SealChoice } from '../../core/seals/index.ts'
import { withDatabase } from '../database.ts'
import type { Client } from '../database.ts'
import type { CliIo } from '../io.ts'
import { chooseSeals } from './seals.ts'
import { orIncomplete, orUnavailable } from './verify-failures.ts'

/** Flags of `verify --seals` and `verify --against`. */
interface SealsFlags {
  readonly seals?: true
  readonly against?: string
  readonly from?: number
  readonly to?: number
  readonly table?: readonly string[]
  readonly json?: true
}

/** Flags that may be combined with `--seals` and `--against`. */
const sealFlags = new Set(['seals', 'against', 'table', 'from', 'to', 'json', 'config', 'data'])

/** Runs `pronghorn verify --seals` or `pronghorn verify --against URL`. */
export async function verifySeals(address: DatabaseAddress, flags: SealsFlags, io: CliIo): Promise<void> {
  const other = Object.keys(flags).find((name) => !sealFlags.has(name))
  if (other !== undefined)
    throw new FatalError(
      'USAGE',
      `--seals and --against can be combined with --table, --from, --to and --json, not with --${other}`,
    )
  if (flags.seals && flags.against !== undefined)
    throw new FatalError('USAGE', '--seals and --against cannot be used together')
  const choice = await chooseSeals(flags)
  const { against } = flags
  await orIncomplete(() =>
    withDatabase(address, 'pronghorn verify', async (client) => {
      await requireSchema(client)
      await orUnavailable(() =>
        against === undefined
          ? recompute(client, choice, flags, io)
          : compareNodes(client, choice, { ...flags, against }, io),
      )
    }),
  )
}

async function recompute(client: Client, choice: SealChoice, flags: SealsFlags, io: CliIo): Promise<void> {
  const { checkSeals } = await import('../../core/seals/index.ts')
  const checked = await checkSeals(client, choice)
  io.out(flags.json ? `${JSON.stringify(checkedSealsJson(checked))}\n` : checkedSealsText(checked))
  const { changed, ranges } = checked
  if (changed.length > 0)
    throw new FatalError(
      'DATABASE_DIFFERS',
      `${changed.length} ranges of blocks changed after they were sealed`,
    )
  if (ranges === 0) throw new RetryableError('VERIFY_UNFINISHED', 'no range of blocks is sealed yet')
}

async function compareNodes(
  client: Client,
  choice: SealChoice,
  { against, json }: SealsFlags & { readonly against: string },
  io: CliIo,
): Promise<void> {
  if (!URL.canParse(against) || !/^https?:/.test(against))
    throw new FatalError(
      'USAGE',
      '--against: allowed is the address of a Pronghorn server, such as https://nft.example',
    )
  const { compareWith, remoteSource } = await import('../../core/seals/compare/index.ts')
  const { rows } = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  const theirs = remoteSource(against, rows[0]?.chain_id ?? '', io.signal)
  const compared = await compareWith(client, theirs, choice)
  io.out(json ? `${JSON.stringify(comparedJson(compared))}\n` : comparedText(compared))
  if (compared.differing.length > 0)
    throw new FatalError(
      'DATABASE_DIFFERS',
      `${compared.differing.length} ranges of blocks differ from those of ${against}`,
    )
  if (compared.ranges === 0)
    throw new RetryableError('VERIFY_UNFINISHED', 'the two databases have no sealed range in common')
}

function comparedText({ kinds, onlyOurs, onlyTheirs, ranges, differing, rows }: ComparedSeals): string {
  const lines = differing.flatMap(({ kind, firstBlock, lastBlock }) => [
    `${kind} blocks ${firstBlock} to ${lastBlock} differ`,
    ...rows
      .filter((row) => row.kind === kind && row.firstBlock >= firstBlock && row.lastBlock <= lastBlock)
      .map(
        ({ side, row, ...blocks }) =>
          `  ${side} ${blocks.firstBlock}-${blocks.lastBlock} ${JSON.stringify(row)}`,
      ),
  ])
  const missing = [
    ...onlyOurs.map(
      (kind) => `${kind}: not compared, because the other installation has no seals of this kind`,
    ),
    ...onlyTheirs.map(
      (kind) => `${kind}: not compared, because only the other installation has seals of this kind`,
    ),
  ]
  const end = `${differing.length} of ${ranges} ranges differ: ${kinds.length} kinds of rows were compared up to block ${Math.max(-1, ...kinds.map(({ sealedTo }) => sealedTo))}.`
  return `${[...lines, ...missing, end].join('\n')}\n`
}

function comparedJson({ kinds, onlyOurs, onlyTheirs, ranges, differing, rows }: ComparedSeals): unknown {
  return {
    clean: differing.length === 0,
    kinds: kinds.map(({ kind, sealedTo }) => ({ kind, sealed_to: sealedTo })),
    ...{ only_ours: onlyOurs, only_theirs: onlyTheirs, ranges },
    differing: differing.map(({ kind, firstBlock, lastBlock }) => ({
      kind,
      first_block: firstBlock,
      last_block: lastBlock,
    })),
    rows: rows.map(({ kind, firstBlock, lastBlock, side, row }) => ({
      ...{ kind, first_block: firstBlock, last_block: lastBlock, side, row },
    })),
  }
}

/** Output of `verify --seals`. */
function checkedSealsText({ kinds, ranges, rows, changed }: CheckedSeals): string {
  const lines = changed.map(
    ({ kind, firstBlock, lastBlock, sealedRows, rows: found }) =>
      `${kind} blocks ${firstBlock} to ${lastBlock}: changed after it was sealed with ${sealedRows} rows; it has ${found}`,
  )
  const end =
    ranges === 0
      ? 'Nothing is sealed yet.'
      : `${changed.length} of ${ranges} sealed ranges changed: ${rows} rows of ${kinds} kinds.`
  return `${[...lines, end].join('\n')}\n`
}

/** Output of `verify --seals --json`. */
function checkedSealsJson({ kinds, ranges, rows, changed }: CheckedSeals): unknown {
  return {
    clean: changed.length === 0,
    ...{ kinds, ranges, rows: rows.toString() },
    changed: changed.map(({ kind, firstBlock, lastBlock, sealedRows, rows: found }) => ({
      ...{ kind, first_block: firstBlock, last_block: lastBlock },
      sealed_rows: sealedRows.toString(),
      rows: found.toString(),
    })),
  }
}
