import { Option } from 'commander'
import { connectDatabase, databaseFailure, knownFailure } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { PronghornError } from '../core/errors/index.ts'
import type { CliIo } from './io.ts'
import { loadSettings } from './settings.ts'
import type { ConfigOption } from './settings.ts'

/** Database connection of a command. */
export type Client = Awaited<ReturnType<typeof connectDatabase>>

/** Options that name the database: a configuration, or a data directory of `pronghorn standalone`. */
export interface DatabaseOption extends ConfigOption {
  readonly data?: string
}

/** Creates the option `--data DIR`. */
export function dataOption(): Option {
  const meaning = 'data directory of `pronghorn standalone`, instead of a configuration'
  return new Option('--data <dir>', meaning).conflicts('config')
}

/**
 * Runs a task with the database of a data directory. Starts the database for the duration of the task unless it runs.
 */
export async function withDataDirectory(
  path: string,
  task: (address: DatabaseAddress) => Promise<void>,
): Promise<void> {
  const { openDataDirectory } = await import('../standalone/index.ts')
  const directory = await openDataDirectory(path)
  try {
    await task(directory.address)
  } finally {
    await directory.close()
  }
}

/** Runs a task with the database that the command line names: a data directory or the configuration. */
export async function withNamedDatabase(
  io: CliIo,
  option: DatabaseOption,
  task: (address: DatabaseAddress) => Promise<void>,
): Promise<void> {
  if (option.data !== undefined) return withDataDirectory(option.data, task)
  return task(loadSettings(io, option, ['connections'], true).config.connections.sqldb)
}

/** Runs a task on a connection of its own, closed afterwards. @throws see `databaseFailure`. */
export async function withDatabase(
  sqldb: DatabaseAddress,
  applicationName: string,
  task: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connectDatabase(sqldb, { applicationName }).catch((cause: unknown) => {
    throw databaseFailure(cause, 'the database cannot be reached', sqldb)
  })
  try {
    await task(client)
  } catch (error) {
    // `databaseFailure` adds host and user of the database, because the commands in the remedy contain them.
    const isKnown = error instanceof PronghornError || knownFailure(error) !== undefined
    throw isKnown ? databaseFailure(error, '', sqldb) : error
  } finally {
    await client.end().catch(() => undefined)
  }
}
