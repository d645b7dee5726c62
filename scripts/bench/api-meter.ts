import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { CpuMeter, sessionProcesses } from './cpu-meter.ts'

/**
 * Measures the processor time of an API process and its database sessions. The set of sessions may change during a run,
 * because the API sometimes replaces a session.
 */
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

  /**
   * Processor time that the API uses while `action` runs, ms. Runs `action` again if a database session ended meanwhile.
   * @throws Error if a session also ends during the second run.
   */
  async measure(action: () => Promise<unknown>): Promise<number> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const before = this.#meter.read()
      await action()
      const ms = this.#meter.read() - before
      if (!Number.isNaN(ms)) return ms
      await this.#begin()
    }
    throw new Error('a measured process has exited')
  }
}
