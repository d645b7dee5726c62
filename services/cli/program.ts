import { Command, CommanderError } from 'commander'
import { ConfigError } from '../core/config/index.ts'
import { PronghornError, describeError, remedyOf } from '../core/errors/index.ts'
import type { RunMode } from '../core/errors/index.ts'
import { redactUrls } from '../core/log/index.ts'
import { readPackageVersion } from '../core/paths/index.ts'
import { addApi } from './commands/api.ts'
import {
  addCertificates,
  addHasuraMetadata,
  addPrepareDatabase,
  addProbe,
  addCheckEnv,
  addRenderConfig,
  addRotateSecrets,
  addSmokeTest,
  addSqlReader,
} from './commands/appliance.ts'
import { addConfig } from './commands/config.ts'
import { addDevchain } from './commands/devchain.ts'
import { addDigest } from './commands/digest.ts'
import { addSeals } from './commands/seals.ts'
import { addDoctor } from './commands/doctor.ts'
import { addFiller } from './commands/filler.ts'
import { addImportDatabase } from './commands/import-database.ts'
import { addImportState } from './commands/import-state.ts'
import { addKeys } from './commands/keys.ts'
import { addMigrate } from './commands/migrate.ts'
import { addPublish } from './commands/publish.ts'
import { addRestore } from './commands/restore.ts'
import { addStandalone } from './commands/standalone.ts'
import { addState } from './commands/state.ts'
import { addVerify } from './commands/verify.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { chooseMode } from './mode.ts'
import { checkNodejs } from './nodejs.ts'

const DESCRIPTION = `Pronghorn reads the NFT contracts of an Antelope (EOSIO) chain into PostgreSQL and serves them over REST.`

/** Runs a command line (without the program name) and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const usage = (): string => usageRemedy(program, args, io)
  const program = buildProgram(io, usage)
  try {
    checkNodejs()
    refuseUnknownTopic(program, args)
    await program.parseAsync([...args], { from: 'user' })
    return exitCodes.ok[0]
  } catch (error) {
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError))
      io.err(redactUrls(explain(error, chooseMode(args, io.env), usage)))
    return exitCodeOf(error)
  }
}

/** Refuses `help` for an unknown command, for which Commander would print the whole help. */
function refuseUnknownTopic(program: Command, [command, topic]: readonly string[]): void {
  if (command !== 'help' || topic === undefined || topic.startsWith('-')) return
  if (program.commands.some((each) => each.name() === topic || each.aliases().includes(topic))) return
  if (topic === 'help') return
  program.error(`error: unknown command '${topic}'`)
}

function buildProgram(io: CliIo, usage: () => string): Command {
  const program = new Command('pronghorn')
    .description(DESCRIPTION)
    .version(readPackageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand('help [command]', 'explain a command')
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(`${text}${usage()}\n`),
    })
    .exitOverride()
    .addHelpText('after', helpFooter)
  addStandalone(program, io)
  addDevchain(program, io)
  addFiller(program, io)
  addApi(program, io)
  addState(program, io)
  addMigrate(program, io)
  addVerify(program, io)
  addDigest(program, io)
  addSeals(program, io)
  addPublish(program, io)
  addRestore(program, io)
  addImportDatabase(program, io)
  addImportState(program, io)
  addKeys(program, io)
  addConfig(program, io)
  addRenderConfig(program, io)
  addCheckEnv(program, io)
  addPrepareDatabase(program, io)
  addRotateSecrets(program, io)
  addSqlReader(program, io)
  addHasuraMetadata(program, io)
  addCertificates(program, io)
  addSmokeTest(program, io)
  addDoctor(program, io)
  addProbe(program, io)
  return program
}

const helpFooter = `
Examples:
  pronghorn standalone                         everything at once, on a demo chain; nothing to set up
  pronghorn config check --config ./config     every problem of the configuration at once
  pronghorn migrate                            create or update the tables
  pronghorn filler                             index the chain
  pronghorn api                                serve the indexed data
  pronghorn verify                             compare the database with the chain
  pronghorn keys create --label wallet         an API key for the state service (pronghorn state)
  pronghorn devchain --blocks 1000 --seed 7    a chain to point the filler at

Configuration:
  connections.config.json, server.config.json and readers.config.json in ./config, or in the folder that CONFIG_DIR names.
  POSTGRES_*, REDIS_* and CHAIN_* take precedence over the files; LOG_LEVEL is trace, debug, info, warn, error or silent.
  API_WORKERS is the number of processes that serve the api (default: one for each core).
  docs/settings.md describes every key, docs/errors.md every error.

Exit codes:
${Object.values(exitCodes)
  .map(([code, meaning]) => `  ${String(code).padEnd(3)} ${meaning}`)
  .join('\n')}

SIGINT (Ctrl-C), SIGTERM and SIGHUP stop a process after its current work. A second SIGINT or SIGTERM stops it at once.`

const helpCommands: Readonly<Record<RunMode, string>> = {
  standalone: 'npx pronghorn help',
  appliance: 'docker compose run --rm config help',
  process: 'pronghorn help',
}

/** Remedy of `USAGE`: the help of the command, or the help of the program if no known command is given. */
function usageRemedy({ commands }: Command, args: readonly string[], io: CliIo): string {
  const mode = chooseMode(args, io.env)
  const [name] = args
  const isKnown =
    name !== undefined && name !== 'standalone' && commands.some((command) => command.name() === name)
  return remedyOf('USAGE', mode, isKnown ? { help: `${helpCommands[mode]} ${name}` } : {})
}

/**
 * Text of an error for people: the message, and the remedy for containers, for single processes or for `standalone`.
 */
function explain(error: unknown, mode: RunMode, usage: () => string): string {
  if (error instanceof PronghornError && error.code === 'USAGE')
    return `${describeError(error)}\n${usage()}\n`
  if (error instanceof ConfigError) return `${error.message}\n${remedyOf(error.code, mode)}\n`
  if (error instanceof PronghornError)
    return `${describeError(error)}${outputOf(error)}\n${remedyOf(error.code, mode, error.details)}\n`
  const stack = error instanceof Error && error.stack !== undefined ? `${error.stack}\n` : ''
  return `${stack}INTERNAL: ${describeError(error)}\n${remedyOf('INTERNAL', mode)}\n`
}

/** The last output lines of another program, such as PostgreSQL, that an error contains; each on its own line. */
function outputOf({ details }: PronghornError): string {
  const { output } = details
  if (!Array.isArray(output) || output.length === 0) return ''
  return `. Last lines of the output:${output.map((line) => `\n  ${String(line)}`).join('')}`
}
