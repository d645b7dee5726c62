import type { ExpectedDifference } from '../../scripts/compare/run.ts'

/**
 * Expected differences between the answers of a database that was indexed from all blocks (A) and of a database that
 * `import-state` filled (B). docs/import-state.md gives the reasons. A value that both databases have is equal.
 */
export const afterImportState: readonly ExpectedDifference[] = [
  { why: 'values from before the import are null', kind: '^type (string|number|object|array|boolean)/null$' },
  {
    why: 'the answer contains the block from which history is complete',
    path: 'history_since_block$',
    kind: '^only in B$',
  },
  {
    why: 'the answer contains the block from which history is complete',
    endpoint: '/health$',
    path: 'readers',
  },
  {
    why: 'events from before the import are unknown',
    endpoint:
      '/(logs|transfers|burns|prices|stats|payouts|graph)(/|$)|/\\{asset_id\\}/sales$|/sales/templates$|/royalties/accounts/',
  },
  {
    why: 'template prices are computed from trades, which are unknown before the import',
    path: '(^|[.])prices$',
  },
  { why: 'bids from before the import are unknown', path: '(^|[.])bids$' },
  { why: 'rows that had ended before the import are absent', kind: '^(records|order|status 200/416)$' },
  { why: 'rows that had ended before the import are absent', path: 'ordinality$' },
  {
    why: 'an unknown asset has only the members that identify an asset',
    path: 'assets\\[\\][.]\\w+$',
    kind: '^only in A$',
  },
  { why: 'rows that had ended before the import are not counted', path: '^data$', kind: '^value$' },
  {
    why: 'rows that had ended before the import are not counted',
    path: '[.](assets|burned)$',
    kind: '^value$',
  },
  {
    why: 'rows that had ended before the import are not counted',
    endpoint: '/accounts(/|$)',
    path: '^data[.](collections|schemas|templates|assets)$',
  },
  {
    why: 'the newest of several schemas with the same name is shown, and creation times are unknown',
    endpoint: '/schemas/\\{collection_name\\}/\\{schema_name\\}$',
    request: '%2C',
  },
]
