import type { Command } from 'commander'
import { buildQueryIndexes, listIndexFamilies, migrate, requireSchema } from '../../core/database/index.ts'
import { withDatabase } from '../database.ts'
import type { Client } from '../database.ts'
import type { CliIo } from '../io.ts'
import { loadSettings } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'

interface MigrateFlags extends ConfigOption {
  readonly check?: true
  readonly indexes?: true
}

export function addMigrate(program: Command, io: CliIo): void {
  program
    .command('migrate')
    .summary('migrate the database to the newest schema')
    .description(
      'Migrates the database to the newest schema. The filler also migrates at its start; this command migrates without a filler.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .option('--check', 'change nothing; exit with 1 if migrations are missing')
    .option('--indexes', 'also build the indexes that only queries need, without blocking readers or writers')
    .action(async (flags: MigrateFlags) => {
      const { config } = loadSettings(io, flags, ['connections'])
      await withDatabase(config.connections.sqldb, 'pronghorn migrate', (client) =>
        flags.check ? check(client, io) : apply(client, flags, io),
      )
    })
}

async function check(client: Client, io: CliIo): Promise<void> {
  await requireSchema(client, { mayBeLater: true })
  io.out('The database has the newest schema.\n')
}

async function apply(client: Client, flags: MigrateFlags, io: CliIo): Promise<void> {
  const applied = await migrate(client)
  io.out(applied.length === 0 ? 'The schema was already the newest.\n' : `Applied: ${applied.join(', ')}.\n`)
  if (!flags.indexes) return
  for (const family of await listIndexFamilies()) {
    const onBuilt = (name: string, elapsedMs: number) =>
      io.out(`Built ${name} in ${Math.round(elapsedMs)} ms.\n`)
    await buildQueryIndexes(client, family, onBuilt, io.signal)
  }
}
