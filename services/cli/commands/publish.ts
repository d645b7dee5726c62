import type { Command } from 'commander'
import { requireSchema } from '../../core/database/index.ts'
import type { PublishReport } from '../../dump/index.ts'
import { wholeNumber } from '../arguments.ts'
import { dataOption, withDatabase, withNamedDatabase } from '../database.ts'
import type { DatabaseOption } from '../database.ts'
import type { CliIo } from '../io.ts'
import { giveWay } from '../priority.ts'
import { CARE_GROUP, configOption } from './groups.ts'

interface PublishFlags extends DatabaseOption {
  readonly jobs: number
  readonly share: number
  readonly key?: string
  readonly check?: true
  readonly prune?: true
  readonly json?: true
}

const MIB = 2 ** 20
/**
 * Percentage of the time that a session of a publication works; the session pauses for the rest. With 20, the p95 from
 * block to commit grows by 12 % and the p95 of REST by 17 %; with 10, by -1 % and 2 % (live chain, 60 requests/s, two
 * processors, 6 pairs of 30 s each, 2026-11-30, `bench latency --publish`).
 */
const DEFAULT_SHARE = 10

export function addPublish(program: Command, io: CliIo): void {
  program
    .command('publish')
    .summary('write a dump that others can restore and check')
    .description(
      'Writes the indexed data, as of the last committed block, into a folder that any HTTP server can serve. Services may run meanwhile. Files never change: the next publication into the same folder adds files, and replaces the manifest last. API keys, named lists and the live feed are left out. docs/publish.md describes the files.',
    )
    .helpGroup(CARE_GROUP)
    .argument('<folder>', 'folder of the dump; created if it does not exist')
    .addOption(configOption())
    .addOption(dataOption())
    .option('--key <file>', 'sign the dump with this Ed25519 private key (PEM)')
    .option('--jobs <number>', 'number of concurrent reading sessions', wholeNumber(1, 16), 1)
    .option(
      '--share <percent>',
      'share of the time in which each session works; it pauses for the rest, so that other services are not slowed down',
      wholeNumber(1, 100),
      DEFAULT_SHARE,
    )
    .option('--check', 'read all files of the former publication, and write damaged ones again')
    .option('--prune', 'remove files that belong neither to this publication nor to the one before it')
    .option('--json', 'JSON on the standard output, for scripts')
    .action(async (folder: string, flags: PublishFlags) => {
      const { publish } = await import('../../dump/index.ts')
      if (flags.share < 100) giveWay()
      await withNamedDatabase(io, flags, async (address) => {
        await withDatabase(address, 'pronghorn publish', requireSchema)
        const report = await publish({
          ...{ database: address, folder, jobs: flags.jobs, share: flags.share / 100 },
          ...{ check: flags.check === true, prune: flags.prune === true, signal: io.signal },
          ...(flags.key === undefined ? {} : { keyFile: flags.key }),
          ...(io.isTerminal
            ? {
                onProgress: ({ done, of, rows, bytes }) =>
                  io.err(`\r\x1b[K${done} of ${of} parts, ${rows} rows, ${mib(bytes)} MiB written`),
              }
            : {}),
        })
        if (io.isTerminal) io.err('\r\x1b[K')
        io.out(flags.json ? `${JSON.stringify(reportJson(report))}\n` : reportText(report, folder))
      })
    })
}

const mib = (bytes: number) => (bytes / MIB).toFixed(1)

function reportText(
  { manifest, files, newFiles, newBytes, pruned, isSignatureDropped, seconds }: PublishReport,
  folder: string,
): string {
  const lines = [
    ...manifest.readers.map(
      ({ name, block_num: block, block_id: id }) => `Reader ${name} at block ${block} ${id}.`,
    ),
    `${manifest.rows} rows in ${files} files, ${mib(Number(manifest.bytes))} MiB; ` +
      `written now: ${newFiles} files, ${mib(newBytes)} MiB, in ${seconds.toFixed(1)} s.`,
    ...(pruned === 0 ? [] : [`${pruned} files of older publications were removed.`]),
    ...(isSignatureDropped
      ? ['The former publication was signed, this one is not: a restore with `--key` refuses it.']
      : []),
    `Serve ${folder} with an HTTP server; others restore the dump with: pronghorn restore URL`,
  ]
  return `${lines.join('\n')}\n`
}

function reportJson({ manifest, files, newFiles, newBytes, pruned, seconds }: PublishReport): unknown {
  const { readers, rows, bytes, seals } = manifest
  return {
    readers: readers.map(({ name, block_num, block_id }) => ({ name, block_num, block_id })),
    ...{ rows, bytes, files, new_files: newFiles, new_bytes: newBytes, pruned, seconds, seals },
  }
}
