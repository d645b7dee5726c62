import type { StoreState } from '../../core/kvstore/index.ts'
import { createMetrics, noteStoreState, renderSnapshots } from '../../core/metrics/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import type { ListPollResult } from '../named-lists/index.ts'

/** Metrics of the whole filler: of its process, of its list polls, and what its readers last reported. */
export interface FillerMetrics {
  /** Takes the newest series of a reader's thread. */
  noteReader(reader: string, snapshot: MetricSnapshot): void
  notePoll(result: ListPollResult): void
  /** Takes what became of a message for live clients. */
  noteMessage(reader: string, outcome: 'sent' | 'dropped'): void
  /** Takes the state of the key-value store. */
  noteStore(state: StoreState): void
  /** All of it in the Prometheus text format. */
  render(): Promise<string>
}

/** Creates the metrics of a filler. */
export function createFillerMetrics(now: () => number = Date.now): FillerMetrics {
  const metrics = createMetrics('filler')
  const readers = new Map<string, MetricSnapshot>()
  return {
    noteReader(reader, snapshot) {
      readers.set(reader, snapshot)
    },
    notePoll({ address: source, outcome, items }) {
      metrics.count('pronghorn_list_polls_total', { source, outcome })
      if (items === undefined) return
      metrics.set('pronghorn_list_last_success_timestamp_seconds', { source }, now() / 1_000)
      metrics.set('pronghorn_list_items', { source }, items)
    },
    noteMessage(reader, outcome) {
      metrics.count('pronghorn_feed_messages_total', { reader, outcome })
    },
    noteStore(state) {
      noteStoreState(metrics, state)
    },
    async render() {
      return renderSnapshots([await metrics.snapshot(), ...readers.values()])
    },
  }
}
