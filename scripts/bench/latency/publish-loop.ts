/** Runs `pronghorn publish` repeatedly, for `bench/latency`. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../../services/core/paths/index.ts'
import type { LatencySetting } from './messages.ts'

/** Runs `pronghorn publish` again and again, each time into an empty folder. */
export class PublishLoop {
  /** Number of runs of `pronghorn publish` that have begun. */
  begun = 0
  readonly #folder: string
  readonly #share: string
  readonly #running: Promise<void>
  #child: ChildProcess | undefined
  #isStopping = false

  private constructor(folder: string, share: string) {
    this.#folder = folder
    this.#share = share
    this.#running = this.#run()
  }

  /**
   * @param parent folder in which a temporary folder is created.
   * @param share percentage of the time in which each database session of `pronghorn publish` works.
   */
  static async start(
    { database, chain }: LatencySetting,
    parent: string,
    share: string,
  ): Promise<PublishLoop> {
    await mkdir(parent, { recursive: true })
    const folder = await mkdtemp(join(parent, 'publications-'))
    const connections = {
      sqldb: database,
      chain: { name: 'devchain', chain_id: chain.chainId, http: chain.http, ship: chain.ship },
    }
    await writeFile(join(folder, 'connections.config.json'), JSON.stringify(connections))
    return new PublishLoop(folder, share)
  }

  /** Stops the current `pronghorn publish`, and removes the files of all runs. @throws Error if a run failed. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child?.kill('SIGTERM')
    try {
      await this.#running
    } finally {
      await rm(this.#folder, { recursive: true, force: true })
    }
  }

  async #run(): Promise<void> {
    const program = join(packageRoot, 'dist/services/cli/main.js')
    const target = join(this.#folder, 'dump')
    do {
      this.begun++
      const command = ['publish', target, '--config', this.#folder, '--share', this.#share]
      this.#child = spawn(process.execPath, [program, ...command], {
        env: {},
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [code] = (await once(this.#child, 'exit')) as [number | null]
      if (code !== 0 && !this.#isStopping) throw new Error(`a publication exited with ${String(code)}`)
      await rm(target, { recursive: true, force: true })
    } while (!this.#isStopping)
  }
}
