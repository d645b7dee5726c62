import type { ExpectedDifference } from '../../scripts/compare/run.ts'

/**
 * Expected differences between the answers of a database that was indexed from all blocks (A) and of a database that
 * `import-state` filled (B). docs/import-state.md gives the reasons. A value that both databases have is equal.
 */
export const afterImportState: readonly ExpectedDifference[] = [
  { why: 'values of before the import are null', kind: '^type (string|number|object|array|boolean)/null$' },
  { why: 'it says since when its history is whole', path: 'history_since_block$', kind: '^only in B$' },
  { why: 'it says since when its history is whole', endpoint: '/health$', path: 'readers' },
  {
    why: 'what happened before the import is not known',
    endpoint:
      '/(logs|transfers|burns|prices|stats|payouts|graph)(/|$)|/\\{asset_id\\}/sales$|/sales/templates$|/royalties/accounts/',
  },
  { why: 'prices of templates follow from trades', path: '(^|[.])prices$' },
  { why: 'bids of before the import are not known', path: '(^|[.])bids$' },
  { why: 'what was gone at the import is not there', kind: '^(records|order|status 200/416)$' },
  { why: 'what was gone at the import is not there', path: 'ordinality$' },
  {
    why: 'of an asset that is not known only the keys of an asset are there',
    path: 'assets\\[\\][.]\\w+$',
    kind: '^only in A$',
  },
  { why: 'what was gone at the import is not counted', path: '^data$', kind: '^value$' },
  { why: 'what was gone at the import is not counted', path: '[.](assets|burned)$', kind: '^value$' },
  {
    why: 'what was gone at the import is not counted',
    endpoint: '/accounts(/|$)',
    path: '^data[.](collections|schemas|templates|assets)$',
  },
  {
    why: 'of several schemas of one name the newest is shown, and creation is not known',
    endpoint: '/schemas/\\{collection_name\\}/\\{schema_name\\}$',
    request: '%2C',
  },
]
