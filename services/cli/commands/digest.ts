import type { Command } from 'commander'
import { requireSchema } from '../../core/database/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { DatabaseDigest } from '../../verify/index.ts'
import { dataOption, withDatabase, withNamedDatabase } from '../database.ts'
import type { Client, DatabaseOption } from '../database.ts'
import type { CliIo } from '../io.ts'
import { CARE_GROUP, configOption } from './groups.ts'
import { orIncomplete } from './verify-failures.ts'

interface DigestFlags extends DatabaseOption {
  readonly table?: readonly string[]
  readonly json?: true
}

export function addDigest(program: Command, io: CliIo): void {
  program
    .command('digest')
    .summary('checksum of the indexed data, to compare two databases')
    .description(
      'Computes a checksum of every table with chain data, as of the last committed block, in one snapshot. Two databases of the same chain at the same block with the same settings have the same checksums, however they were indexed. May run while the filler writes. docs/verify.md lists what is left out.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .addOption(dataOption())
    .option('--table <names...>', 'only these tables, such as assets.assets')
    .option('--json', 'JSON on the standard output, for scripts')
    .action(async (flags: DigestFlags) => {
      await withNamedDatabase(io, flags, (address) =>
        orIncomplete(() =>
          withDatabase(address, 'pronghorn digest', (client) => printDigest(client, flags, io)),
        ),
      )
    })
}

async function printDigest(client: Client, flags: DigestFlags, io: CliIo): Promise<void> {
  const { digestDatabase, listDigestTables } = await import('../../verify/index.ts')
  await requireSchema(client)
  const known = await listDigestTables(client)
  const unknown = (flags.table ?? []).filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new FatalError(
      'USAGE',
      `there is no digest of ${unknown.join(', ')}; tables are: ${known.join(', ')}`,
    )
  }
  const digest = await digestDatabase(client, {
    ...(flags.table ? { tables: [...new Set(flags.table)].sort() } : {}),
    ...(io.isTerminal ? { onTable: (name, done, of) => io.err(`\r\x1b[K${done + 1}/${of} ${name}`) } : {}),
  })
  if (io.isTerminal) io.err('\r\x1b[K')
  io.out(flags.json ? `${JSON.stringify(digestJson(digest))}\n` : digestText(digest))
}

function digestJson({ chainId, positions, digest, tables }: DatabaseDigest): unknown {
  return {
    chain_id: chainId,
    readers: positions.map(({ reader, blockNum, blockId }) => ({
      name: reader,
      block_num: blockNum,
      block_id: blockId,
    })),
    digest,
    tables: tables.map(({ name, rows, digest: own }) => ({ name, rows: rows.toString(), digest: own })),
  }
}

function digestText({ chainId, positions, digest, tables }: DatabaseDigest): string {
  const width = Math.max(...tables.map(({ name }) => name.length), 'all'.length)
  const lines = [
    `chain ${chainId ?? 'none yet'}`,
    ...positions.map(({ reader, blockNum, blockId }) => `reader ${reader} at block ${blockNum} ${blockId}`),
    '',
    ...tables.map(
      ({ name, rows, digest: own }) => `${name.padEnd(width)}  ${own}  ${rows.toString().padStart(12)} rows`,
    ),
    `${'all'.padEnd(width)}  ${digest}`,
  ]
  return `${lines.join('\n')}\n`
}
