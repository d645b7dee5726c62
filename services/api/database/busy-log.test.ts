import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../core/log/index.ts'
import { BusyLog } from './busy-log.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

it('refused requests are logged at once, then once a minute with their number and the busiest client', () => {
  const lines: { msg: string; refused: number; clients: number; waiting: number }[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number])
  const logger = createLogger({ name: 'api', level: 'warn', destination: { write } })
  const log = new BusyLog(logger, () => ({ running: 3, waiting: 7, limit: 50 }))
  log.note('192.0.2.1')
  expect(lines).toMatchObject([{ refused: 1, clients: 1, running: 3, waiting: 7, limit: 50 }])
  for (let at = 0; at < 40; at++) log.note(at % 4 === 0 ? '192.0.2.2' : '192.0.2.1')
  vi.advanceTimersByTime(59_000)
  expect(lines).toHaveLength(1)
  vi.advanceTimersByTime(1_000)
  expect(lines[1]).toMatchObject({ refused: 40, clients: 2 })
  expect(lines[1]?.msg).toBe(
    'busy: since the previous log line of this kind, 40 requests were refused with status 503, from 2 clients, 30 of the requests from 192.0.2.1',
  )
  vi.advanceTimersByTime(600_000)
  expect(lines).toHaveLength(2)
  log.note('192.0.2.3')
  expect(lines).toHaveLength(3)
  log.close()
})
