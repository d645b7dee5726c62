import type { TypeNode } from '../../services/core/antelope/types/index.ts'

const emptyScalars: Readonly<Record<string, unknown>> = {
  bool: false,
  string: '',
  name: '',
  bytes: new Uint8Array(0),
  checksum160: '00'.repeat(20),
  checksum256: '00'.repeat(32),
  checksum512: '00'.repeat(64),
  float128: '00'.repeat(16),
  time_point: '1970-01-01T00:00:00.000',
  time_point_sec: '1970-01-01T00:00:00',
  block_timestamp_type: '2000-01-01T00:00:00.000',
  symbol: '0,',
  symbol_code: '',
  asset: '0 ',
  extended_asset: { quantity: '0 ', contract: '' },
  public_key: 'PUB_K1_11111111111111111111111111111111149Mr2R',
  signature: `SIG_K1_${'1'.repeat(65)}6uk5ne`,
}

/**
 * Creates a value of any type for the encoder. `given` contains struct fields by name, at any depth; every other field
 * gets an empty value. A variant gets its last alternative, unless `given` is a pair [alternative, value].
 */
export function fill(node: TypeNode, given?: unknown): unknown {
  switch (node.kind) {
    case 'builtin':
      return given ?? emptyScalars[node.name] ?? 0
    case 'optional':
      return given === undefined || given === null ? null : fill(node.inner, given)
    case 'array':
      return Array.isArray(given) ? given.map((item) => fill(node.element, item)) : (given ?? [])
    case 'variant': {
      const chosen = isChoice(given)
        ? node.alternatives.find(({ name }) => name === given[0])!
        : node.alternatives.at(-1)!
      return [chosen.name, fill(chosen.type, isChoice(given) ? given[1] : given)]
    }
    case 'struct': {
      const members = (given ?? {}) as Record<string, unknown>
      return Object.fromEntries(node.fields.map(({ name, type }) => [name, fill(type, members[name])]))
    }
  }
}

function isChoice(given: unknown): given is [string, unknown] {
  return Array.isArray(given) && given.length === 2 && typeof given[0] === 'string'
}
