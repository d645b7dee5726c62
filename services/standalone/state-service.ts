import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppConfig } from '../core/config/index.ts'
import { readStateSettings } from '../core/config/environment/index.ts'
import { connectDatabase } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { PronghornError } from '../core/errors/index.ts'
import type { Logger } from '../core/log/index.ts'
import { createApiKey, listApiKeys, revokeApiKey, startState } from '../state/index.ts'
import type { RunningState } from '../state/index.ts'
import { readOwnFile } from './embedded-postgres/index.ts'

/** Where the state service listens, and the folder in which it stores its API key. */
interface StatePlace {
  readonly host: string
  /** Port of the API, from which the state service's port is derived. */
  readonly port: number
  readonly statePort: number | null
  /** Folder in which the API key is stored for later runs; with null, every run creates a new key. */
  readonly dataDir: string | null
  readonly logger: Logger
}

/** Label of the API key. */
const LABEL = 'standalone'
/** The state service listens on the API port plus this number. If that port is taken, it uses any free port. */
const PORT_DISTANCE = 10
const MAX_PORT = 65_535

/**
 * Starts the state service with an API key: the key from the data folder, or a new one, which revokes the keys of
 * earlier runs.
 */
export async function startStateService(
  place: StatePlace,
  config: AppConfig,
  database: DatabaseAddress,
): Promise<{ readonly service: RunningState; readonly key: string }> {
  const service = await startSomewhere(place, config)
  try {
    return { service, key: await openKey(database, place.dataDir) }
  } catch (error) {
    await service.close()
    throw error
  }
}

async function startSomewhere(place: StatePlace, config: AppConfig): Promise<RunningState> {
  const logger = place.logger.child({ part: 'state' })
  const start = (port: number): Promise<RunningState> => {
    const settings = { ...readStateSettings({}).settings, address: place.host, port }
    return startState({ connections: config.connections, settings, logger })
  }
  if (place.statePort !== null) return start(place.statePort)
  const wanted = place.port + PORT_DISTANCE
  if (wanted > MAX_PORT) return start(0)
  return start(wanted).catch((error: unknown) => {
    if (error instanceof PronghornError && error.code === 'PORT_UNAVAILABLE') return start(0)
    throw error
  })
}

async function openKey(address: DatabaseAddress, dataDir: string | null): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'pronghorn standalone' })
  try {
    const earlier = (await listApiKeys(client)).filter(
      ({ label, revokedAt }) => label === LABEL && revokedAt === null,
    )
    const file = dataDir === null ? null : join(dataDir, 'api-key')
    const text = file === null ? null : await readOwnFile(file)
    const [id = '', stored = ''] = (text ?? '').split(/\s+/)
    if (stored !== '' && earlier.some((each) => each.id === id)) return stored
    for (const each of earlier) await revokeApiKey(client, each.id)
    const created = await createApiKey(client, { label: LABEL, expiresAt: null, tokensPerMinute: null })
    if (file !== null) await writeFile(file, `${created.id} ${created.key}\n`, { mode: 0o600 })
    return created.key
  } finally {
    await client.end()
  }
}
