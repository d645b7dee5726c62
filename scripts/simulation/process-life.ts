import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { errorCatalogue } from '../../services/core/errors/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { DatabaseProxy } from './database-proxy.ts'
import type { Life, LifeEnd, LifeOptions } from './life.ts'

const program = join(packageRoot, 'dist/services/cli/main.js')
const codes = new Set(Object.keys(errorCatalogue))

/** A filler run as a separate process, `pronghorn filler`, with production timing. */
export class ProcessLife implements Life {
  readonly proxy: DatabaseProxy
  readonly ended: Promise<LifeEnd>
  readonly #child: ChildProcess

  private constructor(options: LifeOptions, proxy: DatabaseProxy, folder: string) {
    this.proxy = proxy
    this.#child = spawn(process.execPath, [program, 'filler'], {
      env: { CONFIG_DIR: folder, LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        options.log(chunk.toString())
      })
    }
    this.ended = once(this.#child, 'close').then(async ([code, signal]) => {
      await rm(folder, { recursive: true })
      // SIGTERM ends a process that has not installed a handler yet, without output.
      return code === 0 || (signal === 'SIGTERM' && output === '')
        ? { code: null, text: 'ended' }
        : { code: lastCode(output), text: output.slice(-2_000) }
    })
  }

  static async start(options: LifeOptions): Promise<ProcessLife> {
    const proxy = new DatabaseProxy(options.database)
    const { chainId, nodes, settings } = options
    const folder = await mkdtemp(join(tmpdir(), 'pronghorn-simulated-'))
    const connections = {
      sqldb: await proxy.open(),
      chain: { name: 'simulated', chain_id: chainId, http: 'http://127.0.0.1:1', ship: nodes },
    }
    const server = { server_addr: '127.0.0.1', server_port: await findFreePort() }
    await writeFile(join(folder, 'connections.config.json'), JSON.stringify(connections))
    await writeFile(join(folder, 'readers.config.json'), JSON.stringify([{ ...settings, ...server }]))
    return new ProcessLife(options, proxy, folder)
  }

  stop(): void {
    this.#child.kill('SIGTERM')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** The code of the last error in the output. The line of an error begins with its code. */
function lastCode(output: string): string {
  const starts = output.split('\n').map((line) => line.slice(0, line.indexOf(':')))
  return starts.findLast((start) => codes.has(start)) ?? 'INTERNAL'
}
