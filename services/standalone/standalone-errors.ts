import type pg from 'pg'
import { shownAddress } from '../core/chain-node/index.ts'
import { checkDatabaseChain } from '../core/database/index.ts'
import { FatalError, PronghornError } from '../core/errors/index.ts'
import type { ReaderStatus } from '../filler/index.ts'
import { explainFileError } from './data-directory.ts'
import { LEFT_OUT } from './settings.ts'
import type { StandaloneChain } from './settings.ts'

/** Where a standalone run stores its database, for its error messages. */
interface RunPlace {
  /** Folder with the files of the database. */
  readonly dataDir: string
}

const noSpaceCodes = new Set<unknown>(['ENOSPC', 'EDQUOT'])

/**
 * Rewords an error in terms of the command-line options. The error of a full disk or a damaged file names the data
 * directory; a chain mismatch names the URLs of `--ship` and `--http`.
 */
export function explainRunError(error: unknown, { dataDir }: RunPlace): unknown {
  if (!isDiskFull(error)) return differingAddresses(error) ?? explainFileError(error, dataDir) ?? error
  const doing = error instanceof PronghornError ? error.details.doing : undefined
  const when = typeof doing === 'string' ? doing : 'indexing'
  return new FatalError('DISK_FULL', `no space left in ${dataDir} while ${when}`)
}

/** The status of a reader. If the disk is full, the description of the problem names the data directory. */
export function explainTrouble(status: ReaderStatus, dataDir: string): ReaderStatus {
  const { problem } = status
  if (problem?.code !== 'DISK_FULL') return status
  const detail = `no space left in ${dataDir}. Free space: indexing then continues by itself, and nothing is lost.`
  return { ...status, problem: { ...problem, detail } }
}

/**
 * Rewords the error that `--ship` and `--http` serve different chains: the expected chain is the chain of `--http`.
 */
function differingAddresses(error: unknown): FatalError | undefined {
  if (!(error instanceof PronghornError) || error.code !== 'CHAIN_MISMATCH') return undefined
  const { expected, actual } = error.details
  if (typeof expected !== 'string' || typeof actual !== 'string') return undefined
  return new FatalError(
    'ADDRESSES_DIFFER',
    `the node at --http serves chain ${expected}, the node at --ship serves chain ${actual}`,
  )
}

function isDiskFull(error: unknown): boolean {
  if (error instanceof PronghornError) return error.code === 'DISK_FULL'
  return error instanceof Error && 'code' in error && noSpaceCodes.has(error.code)
}

const accountOptions = {
  assets: ['assetsAccount', '--assets-account'],
  market: ['marketAccount', '--market-account'],
  oracle: ['oracleAccount', '--oracle-account'],
  tools: ['toolsAccount', '--tools-account'],
} as const
type AccountOption = (typeof accountOptions)[keyof typeof accountOptions][0]

interface Source {
  readonly family: string
  readonly account: string
}

/**
 * Checks that the contract accounts of the command line are the accounts that the database indexes. An option may leave
 * a contract out.
 * @throws FatalError `READER_SETTINGS_CHANGED`, worded in terms of the command-line options.
 */
export async function checkRunAccounts(
  client: pg.ClientBase,
  wanted: Readonly<Record<AccountOption, string>>,
  { dataDir }: RunPlace,
): Promise<void> {
  const { rows } = await client.query<Source>('SELECT family, account FROM chain.sources')
  for (const [family, [key, option]] of Object.entries(accountOptions)) {
    const held = rows.find((row) => row.family === family)?.account
    if (held === undefined || wanted[key] === held || wanted[key] === LEFT_OUT) continue
    throw new FatalError(
      'READER_SETTINGS_CHANGED',
      `${dataDir} was filled with ${option} ${held}, but this run has ${option} ${wanted[key]}`,
    )
  }
}

/**
 * Checks that the database belongs to the chain to be indexed.
 * @throws FatalError `CHAIN_MISMATCH`, worded in terms of the command-line options.
 */
export async function checkRunChain(
  client: Parameters<typeof checkDatabaseChain>[0],
  chain: StandaloneChain,
  place: RunPlace & { readonly isDemo: boolean },
): Promise<void> {
  try {
    await checkDatabaseChain(client, chain.chainId)
  } catch (error) {
    if (!(error instanceof PronghornError) || error.code !== 'CHAIN_MISMATCH') throw error
    const held = String(error.details.held)
    const wanted = place.isDemo
      ? 'without `--ship` and `--http` the demo chain is indexed'
      : `the node at ${shownAddress(chain.http)} is of chain ${chain.chainId}`
    const message = `${place.dataDir} holds ${held}, but ${wanted}`
    throw new FatalError('CHAIN_MISMATCH', message, { details: { held } })
  }
}
