/** The API for benchmarks of live data, on a generated database. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { generatedChainId } from './generated/index.ts'
import { openGeneratedServer } from './generated-server.ts'
import type { GeneratedArguments } from './generated-server.ts'
import type { LiveProcessMessage, WantedBlock } from './live-process.ts'

/** A running API and its database. */
export interface LiveSetting {
  readonly url: string
  /** Ids of the assets that every block updates. */
  readonly assets: readonly string[]
  /** Commits a block. Resolves with the time of the commit, ms since 1970. */
  readonly commit: (block: number) => Promise<number>
  /**
   * Starts a child process of the benchmark. At the end of the benchmark the child process is disconnected, and so
   * exits.
   */
  readonly start: (file: string, args: readonly string[]) => ChildProcess
}

/**
 * Runs a benchmark with an API, and then stops all processes.
 * @param events number of events per block; each updates one asset.
 */
export async function measureLive(
  options: GeneratedArguments,
  events: number,
  measure: (setting: LiveSetting) => Promise<void>,
): Promise<void> {
  const server = await openGeneratedServer(options)
  const children: ChildProcess[] = []
  const start = (file: string, args: readonly string[]): ChildProcess => {
    const child = fork(join(import.meta.dirname, file), [...args], { serialization: 'advanced' })
    children.push(child)
    return child
  }
  const next = async (child: ChildProcess): Promise<LiveProcessMessage> => {
    const [message] = (await once(child, 'message')) as [LiveProcessMessage]
    return message
  }
  try {
    const assets = await readAssets(server.address, events)
    const api = start('live-process.js', [JSON.stringify(server.address), generatedChainId])
    const { url } = (await next(api)) as Extract<LiveProcessMessage, { url: string }>
    const commit = async (block: number): Promise<number> => {
      const committed = next(api)
      api.send({ block, assets } satisfies WantedBlock)
      const { committedMs } = (await committed) as Extract<LiveProcessMessage, { committedMs: number }>
      return committedMs
    }
    await measure({ url, assets, commit, start })
  } finally {
    for (const child of children) if (child.connected) child.disconnect()
    for (const child of children) if (child.exitCode === null) await once(child, 'exit')
    await server.stop()
  }
}

async function readAssets(address: DatabaseAddress, count: number): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  try {
    const { rows } = await client.query<{ id: string }>(
      'SELECT asset_id::text AS id FROM assets.assets ORDER BY asset_id LIMIT $1',
      [count],
    )
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}
