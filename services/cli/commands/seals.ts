import type { Command } from 'commander'
import { requireSchema } from '../../core/database/index.ts'
import type { KindSeals, SealChoice } from '../../core/seals/index.ts'
import type { SealSummary } from '../../core/seals/published/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { wholeNumber } from '../arguments.ts'
import { dataOption, withDatabase, withNamedDatabase } from '../database.ts'
import type { Client, DatabaseOption } from '../database.ts'
import type { CliIo } from '../io.ts'
import { CARE_GROUP, configOption } from './groups.ts'
import { orIncomplete } from './verify-failures.ts'

interface SealsFlags extends DatabaseOption {
  readonly from?: number
  readonly to?: number
  readonly table?: readonly string[]
  readonly json?: true
}

/** Greatest block number that a PostgreSQL `integer` can store. */
export const LAST_BLOCK = 2_147_483_647

export function addSeals(program: Command, io: CliIo): void {
  program
    .command('seals')
    .summary('checksums of the irreversible history')
    .description(
      'Prints the seals of history: the number of rows and a SHA-256 for each kind of row and range of blocks. ' +
        'A seal is written when no fork can undo the range any more. ' +
        'Without options, prints one line that summarizes all seals; with --from, --to or --table, one line for each range. ' +
        '`pronghorn verify --seals` computes the seals again from the rows. docs/seals.md has the definition.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .addOption(dataOption())
    .option('--from <block>', 'only ranges that end at this block or later', wholeNumber(0, LAST_BLOCK))
    .option('--to <block>', 'only ranges that begin at this block or before', wholeNumber(0, LAST_BLOCK))
    .option('--table <names...>', 'only these kinds of rows, such as assets.transfers')
    .option('--json', 'JSON on the standard output, for scripts')
    .action(async (flags: SealsFlags) => {
      await withNamedDatabase(io, flags, (address) =>
        orIncomplete(() =>
          withDatabase(address, 'pronghorn seals', (client) => printSeals(client, flags, io)),
        ),
      )
    })
}

async function printSeals(client: Client, flags: SealsFlags, io: CliIo): Promise<void> {
  const { readSeals } = await import('../../core/seals/index.ts')
  const { summaryStatement } = await import('../../core/seals/published/index.ts')
  await requireSchema(client)
  const choice = await chooseSeals(flags)
  const isDetailed = Object.keys(choice).length > 0
  const { text, values } = summaryStatement(choice)
  const { rows: answers } = await client.query<{ json: string }>(text, [...values])
  const { sealed_to, rows, digest, kinds } = JSON.parse(answers[0]!.json) as SealSummary
  const seals = isDetailed ? await readSeals(client, choice) : []
  if (flags.json) {
    const summary = { sealed_to, kinds: kinds.length, rows, digest }
    io.out(`${JSON.stringify(isDetailed ? { ...summary, seals: seals.map(sealsJson) } : summary)}\n`)
    return
  }
  io.out(seals.map(sealsText).join(''))
  io.out(
    sealed_to < 0
      ? 'Not every kind of row is sealed yet.\n'
      : `${digest}  ${rows} rows of ${kinds.length} kinds up to block ${sealed_to}\n`,
  )
}

/** The ranges and kinds that a command line chooses. @throws FatalError `USAGE` for a kind that is not sealed. */
export async function chooseSeals(flags: Pick<SealsFlags, 'from' | 'to' | 'table'>): Promise<SealChoice> {
  const { sealedKinds } = await import('../../core/seals/index.ts')
  const known = sealedKinds.map(({ name }) => name)
  const unknown = (flags.table ?? []).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new FatalError(
      'USAGE',
      `there are no seals of ${unknown.join(', ')}; there are seals of ${known.join(', ')}`,
    )
  return {
    ...(flags.from === undefined ? {} : { from: flags.from }),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(flags.table === undefined ? {} : { kinds: flags.table }),
  }
}

function sealsJson({ kind, rangeBlocks, sealedTo, reason, seals }: KindSeals): unknown {
  return {
    ...{ kind, range_blocks: rangeBlocks, sealed_to: sealedTo, reason },
    ranges: seals.map(({ firstBlock, lastBlock, rows, digest, origin }) => ({
      ...{ first_block: firstBlock, last_block: lastBlock, rows: rows.toString(), digest, origin },
    })),
  }
}

function sealsText({ kind, sealedTo, reason, seals }: KindSeals): string {
  const lines = seals.map(
    ({ firstBlock, lastBlock, digest, rows, origin }) =>
      `  ${`${firstBlock}-${lastBlock}`.padEnd(21)}  ${digest}  ${rows.toString().padStart(12)} rows${origin === 'imported' ? ', imported' : ''}`,
  )
  const anew = reason === null ? '' : `, anew: ${reason}`
  return `${[`${kind}, sealed up to block ${sealedTo}${anew}`, ...lines].join('\n')}\n`
}
