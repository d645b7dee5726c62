import type { Placeholders } from './template.ts'

const MB = 2 ** 20

/** Settings of PostgreSQL that follow from the memory it may use (bytes) and from the connections it serves. */
export function computePostgresSettings(memoryBytes: number, maxConnections: number): Placeholders {
  const total = Math.floor(memoryBytes / MB)
  const shared = Math.max(128, Math.floor(total / 4))
  return {
    MAX_CONNECTIONS: maxConnections,
    SHARED_BUFFERS_MB: shared,
    CACHE_MB: Math.max(256, Math.floor((total * 3) / 4)),
    MAINTENANCE_MB: Math.min(2_048, Math.max(64, Math.floor(total / 16))),
    // A connection may use work_mem several times at once.
    WORK_MB: Math.min(64, Math.max(4, Math.floor((total - shared) / (maxConnections * 2)))),
    MAX_WAL_MB: Math.min(16_384, Math.max(1_024, total)),
  }
}
