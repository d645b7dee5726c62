/** Starts the api of a measurement in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { generatedChainId } from './generated/index.ts'

/** A running api. */
export interface ApiProcess {
  /** Address of the family's namespace. */
  readonly url: string
  readonly pid: number
  stop(): void
}

/** Starts an api on a generated database, with the namespaces of families (a comma list). @throws Error when it ends before it listens. */
export async function startApiProcess(
  address: DatabaseAddress,
  families = 'assets',
  cachesOff = '',
): Promise<ApiProcess> {
  const file = import.meta.filename.replace(/api-server\.(js|ts)$/, 'api-process.$1')
  const api = spawn(
    process.execPath,
    [file, JSON.stringify(address), generatedChainId, families, cachesOff],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(api, 'exit').then(() => null)
  const line = await Promise.race([once(createInterface(api.stdout), 'line'), ended])
  if (line === null) throw new Error('the api ended before it listened')
  const { url } = JSON.parse(line[0] as string) as { url: string }
  return { url, pid: api.pid ?? 0, stop: () => void api.kill() }
}
