import { X509Certificate } from 'node:crypto'
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { readChainInfo } from '../../core/chain-node/index.ts'
import type { ChainInfo } from '../../core/chain-node/index.ts'
import {
  connectDatabase,
  databaseFailure,
  listIndexFamilies,
  listMissingIndexes,
  requireSchema,
} from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { KvstoreConfig } from '../../core/config/connections/index.ts'
import { describeError, PronghornError, remedyOf } from '../../core/errors/index.ts'
import type { ErrorCode, ErrorDetails, RunMode } from '../../core/errors/index.ts'
import { describeStoreState, openKeyValueStore } from '../../core/kvstore/index.ts'
import { readServedCertificate } from '../../core/http/listener/index.ts'
import { readPackageVersion } from '../../core/paths/index.ts'
import { readTasks, TABLE_SIZES } from '../../core/upkeep/index.ts'
import type { TableSizeRow } from '../../core/upkeep/index.ts'
import { certificateFiles, endOf } from '../tls/index.ts'
import { examineBackups } from './backups.ts'
import { commandFor } from './help.ts'

export interface DoctorOptions {
  readonly address: DatabaseAddress
  /** The HTTP API of the chain node; null if no node is configured. */
  readonly chainHttp: string | null
  /** Error details with the command-line option that set the URL of the node; empty if the configuration sets it. */
  readonly nodeDetails: ErrorDetails
  /** Connection to Redis, and the chain name, which prefixes the Redis keys; null if no Redis is configured. */
  readonly kvstore: { readonly address: KvstoreConfig; readonly chainName: string } | null
  /** Folders that may contain the files of the served certificate. */
  readonly certificates: readonly string[]
  /** Host and port of the proxy in the network of the containers; null outside the appliance. */
  readonly proxy: { readonly host: string; readonly port: number; readonly serverName: string } | null
  /** A folder on the disk of the database; null if the database is on another machine. */
  readonly databaseDisk: string | null
  /**
   * Families that the filler indexes, and for which it builds query indexes; null means the families in the
   * database.
   */
  readonly families: readonly string[] | null
  /** `stop_block` of each reader that has one. */
  readonly stopBlocks: ReadonlyMap<string, number>
  /** Folder of the backups; null if this machine has no such folder. */
  readonly backups: string | null
  /** How Pronghorn runs: decides which remedies and shell commands the findings name. */
  readonly mode: RunMode
  /**
   * Reports one finding of `doctor`. `command` is a shell command that shows more about the problem; '' suppresses the
   * default command of the subject.
   */
  readonly report: (level: Level, subject: string, note: string, command?: string) => void
}

type Level = 'ok' | 'warn' | 'fail'

type Client = Awaited<ReturnType<typeof connectDatabase>>

const DAY_MS = 86_400_000
const GB = 1e9
const TABLES_SHOWN = 8
/** Blocks a day: Antelope chains produce two blocks a second. */
const BLOCKS_A_DAY = 172_800

/** Checks every part of an installation that can cause trouble. Reports contain no secrets. */
export async function examine(given: DoctorOptions): Promise<void> {
  const report: DoctorOptions['report'] = (level, subject, note, command): void => {
    const shown = command ?? (level === 'ok' ? undefined : commandFor(subject, given.mode))
    given.report(level, subject, note, shown === '' ? undefined : shown)
  }
  const options = { ...given, report }
  report('ok', 'versions', `Pronghorn ${readPackageVersion()}, Node.js ${process.versions.node}`)
  await examineCertificate(options)
  if (options.backups !== null) report(...(await examineBackups(options.backups, new Date(), options.mode)))
  await examineStore(options)
  const node = await examineNode(options)
  const client = await connectDatabase(options.address, {
    applicationName: 'pronghorn-doctor',
    isOfRestore: true,
  }).catch((error: unknown) => {
    const failure = databaseFailure(error, 'the database cannot be reached', options.address)
    const remedy = remedyOf(failure.code, options.mode, failure.details)
    report('fail', 'database', `${describeError(failure)}. ${remedy}`)
    return null
  })
  if (!client) return
  try {
    await examineDatabase(client, options, node)
  } finally {
    await client.end()
  }
}

/**
 * The doctor warns when a certificate has less than RENEWAL_DAYS days left, or less than the share RENEWAL_PART of the
 * whole lifetime if this share is shorter.
 */
const RENEWAL_DAYS = 20
const RENEWAL_PART = 1 / 4

/** Compares the certificate that the proxy serves with the certificate files. */
async function examineCertificate({ certificates, proxy, report }: DoctorOptions): Promise<void> {
  if (proxy === null) return
  const served = await readServedCertificate(proxy.host, proxy.port, proxy.serverName).catch(() => null)
  if (served === null) {
    report(
      'warn',
      'certificate',
      `${proxy.host}:${proxy.port} serves no certificate: TLS is off, or the proxy does not run`,
    )
    return
  }
  const leftMs = served.endsMs - Date.now()
  const days = Math.floor(leftMs / DAY_MS)
  const renewalMs = Math.min(RENEWAL_DAYS * DAY_MS, (served.endsMs - served.beginsMs) * RENEWAL_PART)
  report(
    leftMs > renewalMs ? 'ok' : leftMs > 0 ? 'warn' : 'fail',
    'certificate',
    `days until the served certificate expires: ${days}`,
  )
  const folders = await Promise.all(certificates.map(readCertificateFolder))
  // If one folder has the served certificate, the proxy does not use the other folders.
  const source = folders.find(({ chain }) => chain?.fingerprint256 === served.fingerprint)
  for (const { unreadable, chain } of source ? [source] : folders) {
    for (const name of unreadable)
      report('fail', 'certificate', `${name} cannot be read: the proxy cannot load a renewed certificate`)
    if (chain && endOf(chain) > served.endsMs)
      report(
        'warn',
        'certificate',
        'the certificate files are newer than the served certificate: see docker compose logs nginx',
      )
  }
}

interface CertificateFolder {
  /** Certificate and key files that exist but cannot be read or parsed, each with the reason. */
  readonly unreadable: readonly string[]
  readonly chain: X509Certificate | undefined
}

async function readCertificateFolder(folder: string): Promise<CertificateFolder> {
  const unreadable: string[] = []
  const read = (name: string): Promise<string | undefined> =>
    readFile(join(folder, name), 'utf8').catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') unreadable.push(`${name} (${code ?? 'unreadable'})`)
      return undefined
    })
  const text = await read(certificateFiles.chain)
  await read(certificateFiles.key)
  if (text === undefined) return { unreadable, chain: undefined }
  try {
    return { unreadable, chain: new X509Certificate(text) }
  } catch {
    return { unreadable: [...unreadable, `${certificateFiles.chain} (no certificate)`], chain: undefined }
  }
}

/** Checks Redis. Without Redis, each process has its own limits and caches. */
export async function examineStore({
  kvstore,
  report,
}: Pick<DoctorOptions, 'kvstore' | 'report'>): Promise<void> {
  if (kvstore === null) return
  const { address, chainName } = kvstore
  const silent = { info: () => undefined, warn: () => undefined }
  const store = await openKeyValueStore(address, chainName, silent)
  const problem = describeStoreState(await store.probe())
  await store.close()
  const place = `Redis at ${address.host}:${address.port}`
  if (problem === null) report('ok', 'key-value store', `${place} answers and accepts writes`)
  else report('fail', 'key-value store', `${place}: ${problem}`)
}

async function examineNode(options: DoctorOptions): Promise<ChainInfo | null> {
  const { chainHttp, report } = options
  if (chainHttp === null) return null
  try {
    const info = await readChainInfo(chainHttp)
    const { headBlock, headTimeMs } = info
    const age = Math.round((Date.now() - headTimeMs) / 1_000)
    report(age < 20 ? 'ok' : 'warn', 'chain node', `head ${headBlock}, ${age} seconds old`)
    return info
  } catch (error) {
    const remedy =
      error instanceof PronghornError ? `. ${nodeRemedy(options, error.code, error.details)}` : ''
    report('fail', 'chain node', `${describeError(error)}${remedy}`)
    return null
  }
}

function nodeRemedy({ mode, nodeDetails }: DoctorOptions, code: ErrorCode, details: ErrorDetails): string {
  return remedyOf(code, mode, { ...details, ...nodeDetails })
}

/** Returns the head of the node. Reports a node of another chain than the database, and returns null. */
async function examineChain(
  client: Client,
  options: DoctorOptions,
  node: ChainInfo | null,
): Promise<number | null> {
  const { rows } = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  const held = rows[0]?.chain_id
  if (node === null || held === undefined || held === node.chainId) return node?.headBlock ?? null
  const remedy = nodeRemedy(options, 'CHAIN_MISMATCH', { held: `chain ${held}` })
  const note = `the node serves chain ${node.chainId}, but the database holds chain ${held}. ${remedy}`
  options.report('fail', 'chain node', note, '')
  return null
}

async function examineDatabase(
  client: Client,
  options: DoctorOptions,
  node: ChainInfo | null,
): Promise<void> {
  const { report } = options
  const { rows } = await client.query<{ version: string; bytes: bigint }>(
    "SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes",
  )
  const { version, bytes } = rows[0]!
  const server = `PostgreSQL ${version}, ${(Number(bytes) / GB).toFixed(2)} GB`
  const refusal = await findRefusal(client)
  if (refusal !== null) {
    const remedy = remedyOf(refusal.code, options.mode, refusal.details)
    report('fail', 'database', `${server}; ${describeError(refusal)}. ${remedy}`, '')
    await examineDisk(options, Number(bytes), 0)
    return
  }
  const { rows: migrations } = await client.query<{ schema: number }>(
    'SELECT max(number) AS schema FROM public.pronghorn_migrations',
  )
  report('ok', 'database', `${server}, schema ${migrations[0]!.schema}`)
  const blocks = await examineReaders(client, options, await examineChain(client, options, node))
  await examineComparison(client, report)
  await examineSizes(client, report)
  await examineIndexes(client, options)
  await examineDisk(options, Number(bytes), blocks)
}

/** Returns the error if this version cannot use the schema of the database; else null. */
async function findRefusal(client: Client): Promise<PronghornError | null> {
  try {
    await requireSchema(client)
    return null
  } catch (error) {
    return databaseFailure(error, 'the schema of the database cannot be read')
  }
}

async function examineReaders(
  client: Client,
  { report, stopBlocks }: DoctorOptions,
  head: number | null,
): Promise<number> {
  const { rows } = await client.query<{
    name: string
    start_block: number
    block_num: number
    silent: number | null
    idle: number | null
    problem: string | null
  }>(
    `SELECT r.name, r.start_block, r.block_num, extract(epoch FROM now() - h.beaten_at)::float8 AS silent,
      extract(epoch FROM now() - h.committed_at)::float8 AS idle, h.problem
     FROM chain.readers r LEFT JOIN chain.heartbeats h ON h.reader = r.name ORDER BY r.name`,
  )
  if (rows.length === 0) report('warn', 'readers', 'no reader has started')
  for (const { name, block_num: block, silent, idle, problem } of rows) {
    if (block >= (stopBlocks.get(name) ?? Infinity)) {
      report('ok', `reader ${name}`, `stopped at stop_block ${block}`)
      continue
    }
    const lag = head === null ? null : Math.max(0, head - block)
    const isSilent = silent === null || silent > 30
    const place = `block ${block}${lag === null ? '' : `, ${lag} behind the head`}`
    const since = isSilent ? `, SILENT ${describeSince(silent)}: is the filler running?` : ''
    const stall = !isSilent && problem !== null ? `, STALLED ${describeSince(idle)}: ${problem}` : ''
    const note = place + since + stall
    report(
      isSilent || stall !== '' ? 'fail' : lag !== null && lag > 180 ? 'warn' : 'ok',
      `reader ${name}`,
      note,
    )
  }
  return rows.reduce((sum, row) => sum + Math.max(0, row.block_num - Math.max(1, row.start_block)), 0)
}

function describeSince(seconds: number | null): string {
  if (seconds === null) return 'since its start'
  return seconds < 120 ? `for ${Math.round(seconds)} seconds` : `for ${Math.round(seconds / 60)} minutes`
}

/** Reports the result of the last comparison with the chain. */
async function examineComparison(client: Client, report: DoctorOptions['report']): Promise<void> {
  const found = (await readTasks(client)).find(({ name }) => name === 'verify')
  if (found === undefined) return
  const { succeededAt, failedAt, failure } = found
  if (failedAt === null) report('ok', 'comparison', `nothing differed at ${succeededAt?.toISOString() ?? ''}`)
  else report('fail', 'comparison', `${failure ?? 'rows differ'}, since ${failedAt.toISOString()}`)
}

async function examineSizes(client: Client, report: DoctorOptions['report']): Promise<void> {
  const { rows } = await client.query<TableSizeRow>({ text: TABLE_SIZES, rowMode: 'array' })
  const sizes = rows.slice(0, TABLES_SHOWN).map(([schema, name, , table, index]) => {
    const megabytes = (Number(table) + Number(index)) / 1e6
    return `${schema}.${name} ${megabytes.toFixed(1)} MB`
  })
  report('ok', 'largest tables', sizes.join(', '))
}

async function examineIndexes(client: Client, { families, report }: DoctorOptions): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid ORDER BY 1',
  )
  const missing: string[] = []
  // Indexes of families that are not indexed are neither built nor needed.
  const indexed = families ?? (await listIndexedFamilies(client))
  const known = (await listIndexFamilies()).filter((family) => indexed.includes(family))
  for (const family of known) missing.push(...(await listMissingIndexes(client, family)))
  if (rows.length > 0) report('warn', 'invalid indexes', rows.map(({ name }) => name).join(', '))
  if (missing.length > 0) {
    report(
      'warn',
      'query indexes',
      `indexes not built yet: ${missing.join(', ')}; the filler builds them when it reaches the head of the chain`,
    )
  }
  if (rows.length + missing.length === 0) report('ok', 'indexes', 'all indexes exist and are valid')
}

async function listIndexedFamilies(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ family: string }>('SELECT family FROM chain.sources')
  return rows.map(({ family }) => family)
}

async function examineDisk(options: DoctorOptions, bytes: number, blocks: number): Promise<void> {
  if (options.databaseDisk === null) return
  const disk = await statfs(options.databaseDisk).catch(() => null)
  if (disk === null) {
    options.report('warn', 'disk', 'the disk of the database is not on this machine')
    return
  }
  const free = disk.bavail * disk.bsize
  const daily = blocks > 0 ? (bytes / blocks) * BLOCKS_A_DAY : 0
  const days = daily > 0 ? Math.floor(free / daily) : null
  const space = `${(free / GB).toFixed(1)} GB free`
  options.report(
    free < 10 * GB || (days !== null && days < 30) ? 'warn' : 'ok',
    'disk',
    days === null ? space : `${space}, enough for about ${days} days at the average size of a block so far`,
  )
}
