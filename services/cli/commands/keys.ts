import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { FatalError } from '../../core/errors/index.ts'
import type { ApiKey, Queryable } from '../../state/index.ts'
import { wholeNumber } from '../arguments.ts'
import { dataOption, withDatabase, withNamedDatabase } from '../database.ts'
import type { DatabaseOption } from '../database.ts'
import type { CliIo } from '../io.ts'
import { CARE_GROUP, configOption } from './groups.ts'

interface CreateFlags extends DatabaseOption {
  readonly label: string
  readonly expires?: Date
  readonly limit?: number
}

const MAX_LABEL_LENGTH = 200

/** Adds the commands `pronghorn keys` and `pronghorn rotate-keys`. */
export function addKeys(program: Command, io: CliIo): void {
  const keys = program.command('keys').summary('API keys of the state service').helpGroup(CARE_GROUP)
  keys
    .command('create')
    .summary('create a key and show it; it cannot be shown again')
    .description(
      'Creates an API key and prints it. Only a hash of the key is stored, so the key cannot be shown again.',
    )
    .addOption(configOption())
    .addOption(dataOption())
    .requiredOption('--label <name>', "name of the key's owner", labelText)
    .option(
      '--expires <date>',
      'time at which the key expires, such as 2030-01-31 or 2030-01-31T12:00:00Z',
      futureDate,
    )
    .option(
      '--limit <number>',
      'maximum number of tokens issued for the key per minute',
      wholeNumber(1, 1_000_000),
    )
    .action((flags: CreateFlags) => withKeys(io, flags, (database) => create(database, flags, io)))
  keys
    .command('list')
    .summary('show all keys with their last use')
    .description('Lists the API keys: id, label, state, limit, and when a token was last issued for each.')
    .addOption(configOption())
    .addOption(dataOption())
    .action((flags: DatabaseOption) => withKeys(io, flags, (database) => list(database, io)))
  keys
    .command('revoke')
    .summary('revoke a key and its tokens')
    .description(
      'Revokes an API key. The state service issues no more tokens for the key, and refuses the tokens of the key within 15 seconds.',
    )
    .argument('<id>', 'id of the key, as `keys list` shows it')
    .addOption(configOption())
    .addOption(dataOption())
    .action((id: string, flags: DatabaseOption) =>
      withKeys(io, flags, (database) => revoke(database, id, io)),
    )
  program
    .command('rotate-keys')
    .summary('sign tokens with a new secret from now on')
    .description(
      'Replaces the signing key. The new key is in use within half a minute. Tokens that were issued before stay valid until they expire, so no client is logged out.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(nowOption())
    .action((flags: DatabaseOption & NowFlag) =>
      withKeys(io, flags, async (database) => io.out(await replaceSigningKey(database, flags))),
    )
}

/** Flag `--now`: replaced keys become invalid at once. */
export interface NowFlag {
  readonly now?: true | undefined
}

/**
 * Creates the option `--now`, for a leaked signing key: without it, a thief can sign tokens with an earlier `iat` until
 * the old key expires.
 */
export function nowOption(): Option {
  return new Option(
    '--now',
    'revoke the old signing keys and all of their tokens at once: clients exchange their API key again',
  )
}

/** Creates a new signing key for tokens. @returns the sentence for the operator. */
export async function replaceSigningKey(database: Queryable, { now }: NowFlag): Promise<string> {
  await requireKeyTables(database)
  const { rotateSigningKey } = await import('../../state/index.ts')
  const id = await rotateSigningKey(database, { endsOldKeys: now === true })
  return now === true
    ? `Tokens are signed with key ${id}. Tokens of all other signing keys are refused within 15 seconds.\n`
    : `Within half a minute, new tokens are signed with key ${id}.\n`
}

async function requireKeyTables(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ exists: boolean }>(
    "SELECT to_regclass('access.api_keys') IS NOT NULL AS exists",
  )
  if (!rows[0]!.exists) throw new FatalError('DATABASE_TOO_OLD', 'the database has no tables for keys yet')
}

async function withKeys(
  io: CliIo,
  flags: DatabaseOption,
  task: (database: Queryable) => Promise<void>,
): Promise<void> {
  const run = async (database: Queryable): Promise<void> => {
    await requireKeyTables(database)
    await task(database)
  }
  await withNamedDatabase(io, flags, (address) => withDatabase(address, 'pronghorn keys', run))
}

async function create(database: Queryable, flags: CreateFlags, io: CliIo): Promise<void> {
  const { createApiKey } = await import('../../state/index.ts')
  const { key, id } = await createApiKey(database, {
    label: flags.label,
    expiresAt: flags.expires ?? null,
    tokensPerMinute: flags.limit ?? null,
  })
  io.out(`${key}\n`)
  // Only the key goes to standard output, for scripts.
  io.err(`Pronghorn shows key ${id} only once: store the key where only its owner can read it.\n`)
}

async function list(database: Queryable, io: CliIo): Promise<void> {
  const { listApiKeys } = await import('../../state/index.ts')
  const keys = await listApiKeys(database)
  if (keys.length === 0) {
    io.out('There are no keys. Create one: pronghorn keys create --label NAME\n')
    return
  }
  const rows = [['ID', 'LABEL', 'STATE', 'LIMIT', 'CREATED', 'LAST USED'], ...keys.map(cellsOf)]
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  for (const row of rows)
    io.out(
      `${row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}

function cellsOf(key: ApiKey): string[] {
  return [
    key.id,
    key.label,
    stateOf(key),
    key.tokensPerMinute === null ? '-' : `${key.tokensPerMinute}/min`,
    timeText(key.createdAt),
    key.lastUsedAt === null ? 'never' : timeText(key.lastUsedAt),
  ]
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt) return `revoked ${timeText(revokedAt)}`
  if (!expiresAt) return 'valid'
  return `${expiresAt.getTime() > Date.now() ? 'valid until' : 'expired'} ${timeText(expiresAt)}`
}

function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 16)}Z`
}

async function revoke(database: Queryable, id: string, io: CliIo): Promise<void> {
  const { revokeApiKey } = await import('../../state/index.ts')
  if (!(await revokeApiKey(database, id)))
    throw new FatalError(
      'USAGE',
      `there is no key ${id}, or the key is revoked already; \`pronghorn keys list\` shows all keys`,
    )
  io.out(`Key ${id} is revoked. Its tokens are refused within 15 seconds.\n`)
}

function labelText(text: string): string {
  const label = text.trim()
  if (label !== '' && label.length <= MAX_LABEL_LENGTH && !/\p{Cc}/u.test(label)) return label
  throw new InvalidArgumentError(
    `Allowed: 1 to ${MAX_LABEL_LENGTH} characters, none of them a control character.`,
  )
}

function futureDate(text: string): Date {
  const date = new Date(text)
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? ['']
  // `Date` accepts a day that the month lacks, such as 02-31, as a day of the next month.
  const isDay = Date.parse(day) > 0 && new Date(day).toISOString().startsWith(day)
  if (isDay && date.getTime() > Date.now()) return date
  throw new InvalidArgumentError('Allowed: a date in the future, such as 2030-01-31 or 2030-01-31T12:00:00Z.')
}
