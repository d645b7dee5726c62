import type { Command } from 'commander'
import { TimeLeft } from '../../core/progress/index.ts'
import type { RestoreProgress, RestoreReport } from '../../dump/index.ts'
import { wholeNumber } from '../arguments.ts'
import type { CliIo } from '../io.ts'
import { loadSettings } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'

interface RestoreFlags extends ConfigOption {
  readonly jobs: number
  readonly key?: string
  readonly reader?: string
  readonly anew?: true
  readonly json?: true
}

const MIB = 2 ** 20
/** Interval in ms between progress lines if the output is not a terminal. */
const LINE_MS = 10_000

export function addRestore(program: Command, io: CliIo): void {
  program
    .command('restore')
    .summary('fill an empty database from a published dump')
    .description(
      'Downloads a dump of `pronghorn publish`, compares each file with the manifest and its rows with their seals, and loads it into an empty database. Start the filler afterwards: it continues with the next block of the chain. docs/publish.md describes the steps.',
    )
    .helpGroup(CARE_GROUP)
    .argument('<address>', 'the folder of the dump, or its HTTP address')
    .addOption(configOption())
    .option('--key <file>', 'public key of the publisher (PEM); a dump without its signature is refused')
    .option('--jobs <number>', 'number of concurrent loading sessions', wholeNumber(1, 64), 4)
    .option(
      '--reader <name>',
      'name of the reader in readers.config.json, if the reader has another name in the dump',
    )
    .option('--anew', 'discard an interrupted restore, and start over with the currently published dump')
    .option('--json', 'JSON on the standard output, for scripts')
    .addHelpText(
      'after',
      `
No other program may use the database during the restore. After an unfinished restore, no service starts on the
incomplete database. Run the restore again: it continues with the same publication of the dump.`,
    )
    .action((address: string, flags: RestoreFlags) => run(address, flags, io))
}

async function run(address: string, flags: RestoreFlags, io: CliIo): Promise<void> {
  const { restore } = await import('../../dump/index.ts')
  const { connections } = loadSettings(io, flags, ['connections']).config
  const report = await restore({
    ...{ database: connections.sqldb, chainId: connections.chain.chain_id, from: address },
    ...{ jobs: flags.jobs, anew: flags.anew === true, signal: io.signal },
    ...(flags.key === undefined ? {} : { keyFile: flags.key }),
    ...(flags.reader === undefined ? {} : { reader: flags.reader }),
    onProgress: progressWriter(io),
  })
  if (io.isTerminal) io.err('\r\x1b[K')
  io.out(flags.json ? `${JSON.stringify(reportJson(report))}\n` : reportText(report))
}

/**
 * Writes the progress of a restore: on a terminal, one line that is overwritten; otherwise, one line every
 * LINE_MS.
 */
function progressWriter(io: CliIo): (progress: RestoreProgress) => void {
  let left = new TimeLeft()
  let phase: string | undefined
  let writtenAt = 0
  return (progress) => {
    const now = performance.now()
    if (progress.phase !== phase) left = new TimeLeft()
    left.note(now, progress.done, progress.of)
    const isDue = progress.phase !== phase || now - writtenAt >= LINE_MS
    phase = progress.phase
    if (!io.isTerminal && !isDue) return
    writtenAt = now
    const line = progressText(progress, left.seconds)
    io.err(io.isTerminal ? `\r\x1b[K${line}` : `${line}\n`)
  }
}

function progressText({ phase, done, of, rows }: RestoreProgress, seconds: number | null): string {
  const time = seconds === null ? '' : `, ${Math.ceil(seconds)} s left`
  switch (phase) {
    case 'rows':
      return `rows: ${(done / MIB).toFixed(1)} of ${(of / MIB).toFixed(1)} MiB, ${rows} rows${time}`
    case 'indexes':
      return `indexes, seals and statistics: ${done} of ${of} steps`
  }
}

function reportText({ manifest, readers, resumedFiles, migrations, seconds }: RestoreReport): string {
  const lines = [
    `Restored ${manifest.rows} rows of chain ${manifest.chain_id}, written by version ${manifest.program} at ${manifest.created_at}, in ${seconds.toFixed(1)} s.`,
    ...(resumedFiles === 0 ? [] : [`${resumedFiles} files were already loaded by an earlier run.`]),
    ...(migrations.length === 0 ? [] : [`Migrations applied: ${migrations.join(', ')}.`]),
    manifest.seals.sealed_to < 0
      ? 'The dump lacks seals for some kinds of rows.'
      : `Seals: ${manifest.seals.digest}  ${manifest.seals.rows} rows up to block ${manifest.seals.sealed_to}.`,
    '',
    'Now start the filler:',
    ...readers.map(({ name, block_num: block }) => `reader ${name} continues with block ${block + 1}.`),
  ]
  return `${lines.join('\n')}\n`
}

function reportJson({ manifest, readers, resumedFiles, migrations, seconds }: RestoreReport): unknown {
  const { rows, bytes, seals } = manifest
  return {
    readers: readers.map(({ name, block_num, block_id }) => ({ name, block_num, block_id })),
    ...{ rows, bytes, resumed_files: resumedFiles, migrations, seconds, seals },
  }
}
