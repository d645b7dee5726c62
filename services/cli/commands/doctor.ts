import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { examine } from '../../appliance/index.ts'
import { listStopBlocks } from '../../core/progress/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { dataOption, withDataDirectory } from '../database.ts'
import type { DatabaseOption } from '../database.ts'
import { diskOfDatabase } from '../disk.ts'
import type { CliIo } from '../io.ts'
import { nodeDetails } from '../node-option.ts'
import { relocate } from '../rendered-connections.ts'
import { loadSettings } from '../settings.ts'
import { requireRendered } from './appliance.ts'
import { CARE_GROUP, configOption } from './groups.ts'

type Examined = Omit<Parameters<typeof examine>[0], 'report'>

interface DoctorFlags extends DatabaseOption {
  readonly rendered?: string
  readonly certificateFiles: string
  readonly http?: string
  readonly disk?: string
  readonly backups?: string
}

export function addDoctor(program: Command, io: CliIo): void {
  program
    .command('doctor')
    .summary('versions, lag, sizes, indexes, certificate, disk')
    .description(
      'Checks everything that an operator needs to find a fault. Prints no secrets. In the containers it also checks the proxy and its certificate.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .addOption(dataOption())
    .option(
      '--rendered <folder>',
      'folder that render-config wrote, instead of --config (default in the containers)',
    )
    .option('--http <url>', 'HTTP API of the node to check (default: chain.http of the configuration)')
    .option(
      '--certificate-files <folder>',
      'folder of your own certificate, for TLS_MODE=files',
      '/pronghorn/certificates',
    )
    .option('--disk <folder>', 'a folder on the disk of the database, to check the free space')
    .option('--backups <folder>', 'the folder of the backups')
    .action(async (flags: DoctorFlags) => {
      if (flags.data === undefined) return examineConfigured(flags, io)
      if (flags.rendered !== undefined)
        throw new FatalError('USAGE', '--data and --rendered cannot be used together')
      await withDataDirectory(flags.data, (address) => examineAndReport(io, ofDirectory(address, flags)))
    })
}

/** Creates the options of `examine` for a data directory of `pronghorn standalone`. */
function ofDirectory(address: DatabaseAddress, { data, http, disk, backups }: DoctorFlags): Examined {
  return {
    address,
    chainHttp: http ?? null,
    nodeDetails: nodeDetails(http),
    kvstore: null,
    certificates: [],
    proxy: null,
    mode: 'standalone',
    databaseDisk: disk ?? data ?? null,
    backups: backups ?? null,
    stopBlocks: new Map(),
    families: null,
  }
}

async function examineConfigured(flags: DoctorFlags, io: CliIo): Promise<void> {
  const rendered = chooseRendered(flags, io)
  const folder = rendered === undefined ? flags : { config: join(rendered, 'api') }
  const { config } = loadSettings(io, folder, ['connections', 'server', 'readers'], true)
  const settings =
    rendered === undefined ? config.connections : relocate(config.connections, join(rendered, 'api'))
  await examineAndReport(io, {
    address: settings.sqldb,
    chainHttp: flags.http ?? settings.chain.http,
    nodeDetails: nodeDetails(flags.http),
    kvstore: settings.kvstore ? { address: settings.kvstore, chainName: settings.chain.name } : null,
    certificates: rendered === undefined ? [] : [flags.certificateFiles, join(rendered, 'certificates')],
    proxy:
      rendered === undefined ? null : { host: 'nginx', port: 8443, serverName: config.server.server_name },
    mode: rendered === undefined ? 'process' : 'appliance',
    databaseDisk: diskOfDatabase(io.env, flags.disk) ?? null,
    backups: flags.backups ?? null,
    stopBlocks: listStopBlocks(config.readers),
    families: config.readers.flatMap(({ contracts }) => contracts.map(({ handler }) => handler)),
  })
}

async function examineAndReport(io: CliIo, examined: Examined): Promise<void> {
  const { examine } = await import('../../appliance/index.ts')
  let failures = 0
  await examine({
    ...examined,
    report: (level, subject, note, command) => {
      if (level === 'fail') failures++
      io.out(`${level.padEnd(6)}${subject.padEnd(19)} ${note}\n`)
      if (command !== undefined) io.out(`${' '.repeat(26)}$ ${command}\n`)
    },
  })
  if (failures === 0) return
  throw new FatalError(
    'UNHEALTHY',
    failures === 1
      ? 'one check failed: see the line with fail above'
      : `${failures} checks failed: see the lines with fail above`,
  )
}

/** Folder at which a container sees the files that render-config writes. */
const MOUNTED = '/rendered'

/**
 * Chooses the folder of rendered files to examine: the folder of `--rendered`, else the mounted folder of a
 * container. Undefined if there is no mounted folder, or if `--config` or `CONFIG_DIR` names a configuration:
 * then the operator's own configuration files are examined.
 * @throws FatalError `WRONG_MODE` if the folder of `--rendered` does not exist.
 */
function chooseRendered({ rendered, config }: DoctorFlags, io: CliIo): string | undefined {
  if (rendered !== undefined) {
    requireRendered(rendered, 'api')
    return rendered
  }
  const isConfigured = config !== undefined || (io.env.CONFIG_DIR ?? '') !== ''
  return !isConfigured && existsSync(join(MOUNTED, 'api')) ? MOUNTED : undefined
}
