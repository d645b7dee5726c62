import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { CpuMeter, sessionProcesses } from './cpu-meter.ts'

/** Processor time of an api and its sessions, which it replaces now and then. */
export class ApiMeter {
  readonly #address: DatabaseAddress
  readonly #pid: number
  #meter = new CpuMeter([])

  private constructor(address: DatabaseAddress, pid: number) {
    this.#address = address
    this.#pid = pid
  }

  static async of(address: DatabaseAddress, pid: number): Promise<ApiMeter> {
    const meter = new ApiMeter(address, pid)
    await meter.#begin()
    return meter
  }

  async #begin(): Promise<void> {
    const client = await connectDatabase(this.#address, { applicationName: 'bench' })
    this.#meter = new CpuMeter([this.#pid, ...(await sessionProcesses(client, this.#pid))])
    await client.end()
  }

  /** Milliseconds that an action takes; undefined when a session has ended meanwhile. */
  async measure(action: () => Promise<unknown>): Promise<number | undefined> {
    const before = this.#meter.read()
    await action()
    const ms = this.#meter.read() - before
    if (!Number.isNaN(ms)) return ms
    await this.#begin()
    return undefined
  }
}
