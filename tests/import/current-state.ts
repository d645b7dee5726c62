import type { Entry, Json, Reply } from '../../scripts/conformance/comparison/index.ts'

/** Routes that show current state; routes that show history are absent. */
const ROUTES =
  /^\/v[12]\/(collections|schemas|templates|assets|offers|sales|auctions|buyoffers|template_buyoffers)(\/:(collection_name|asset_id|offer_id|sale_id|auction_id|buyoffer_id|schema_name|template_id))*(\/_count)?$/

/** Fields whose value an import of the chain state lacks: null in records from before the import. */
const UNKNOWN_VALUES = /^((created|updated|transferred|minted)_at_(block|time)|template_mint|bids)$/
/**
 * Sums over history, which an import of current state cannot contain: prices paid for assets of a template, and asset
 * counts that include burned assets.
 */
const SUMS_OF_HISTORY = /\.prices$|^(\[\d+\])?\.assets$/

/** Query parameters that filter or sort by values that an import of the chain state lacks, such as creation times. */
const UNKNOWN_PARAMETERS =
  /(^|&)(sort=(created|updated|minted|transferred|template_mint|assets)|before=|after=|(min_|max_)?template_mint=|minter=|initial_receiver=|burned=true|only_burned|burned_by|show_.*burned|participant)/

/** Whether a corpus request can be answered from current state alone. */
export function isOfCurrentState({ route, status, request }: Entry): boolean {
  return (
    status === 200 && ROUTES.test(route) && !UNKNOWN_PARAMETERS.test(`${request.query}&${request.body ?? ''}`)
  )
}

type Row = Readonly<Record<string, Json>>

/** Whether a record still exists on the chain. */
function isPresent(route: string, row: Row): boolean {
  const state = row.state as number | undefined
  if (/\/assets/.test(route)) return row.owner !== null
  if (/\/offers/.test(route)) return state === 0 || state === 1
  if (/\/sales/.test(route)) return state === 0 || state === 1 || state === 4
  if (/\/auctions/.test(route)) return state === 0 || state === 1
  if (/buyoffers/.test(route)) return state === 0 || state === 4
  return row.deleted_at_block === undefined || row.deleted_at_block === null
}

/**
 * Compares two responses. Returns the first difference, `equal`, or `left out` if the response is about records that
 * no longer exist.
 */
export function compareCurrentState({ route, request }: Entry, expected: Reply, found: Reply): string {
  if (expected.text === '') return 'left out'
  const [one, other] = [expected, found].map(({ text }) => JSON.parse(text) as Row)
  const data = one!.data
  if (typeof data === 'string') return 'left out'
  const rows = (Array.isArray(data) ? data : [data]) as Row[]
  if (expected.status !== 200 || !rows.every((row) => isPresent(route, row))) return 'left out'
  if (found.status !== expected.status) return `status ${found.status}`
  const isByCreation = /\/(collections|schemas)$/.test(route) && !/(^|&)sort=/.test(request.query)
  if (!isByCreation) return findDifference(data!, other!.data!, '') ?? 'equal'
  // Without `sort`, collections and schemas are listed in the order of creation, which an import of chain state does
  // not know: compare complete lists in any order.
  if (/(^|&)(limit|page)=/.test(request.query)) return 'left out'
  return findDifference(byKey(data!), byKey(other!.data!), '') ?? 'equal'
}

function byKey(data: Json): Json {
  const keyOf = ({ collection_name: name, schema_name: schema, collection }: Row) =>
    JSON.stringify([name, schema, (collection as Row | undefined)?.collection_name])
  return (data as Row[]).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function findDifference(expected: Json, found: Json, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('.') + 1)
  if (found === null && UNKNOWN_VALUES.test(name)) return undefined
  if (SUMS_OF_HISTORY.test(path)) return undefined
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) return `${path}: ${expected.length} records, not ${found.length}`
    for (const [i, value] of expected.entries()) {
      const difference = findDifference(value, found[i]!, `${path}[${i}]`)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  if (typeof expected === 'object' && typeof found === 'object' && expected !== null && found !== null) {
    const [left, right] = [expected as Row, found as Row]
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    for (const key of names) {
      const difference = findDifference(left[key] ?? null, right[key] ?? null, `${path}.${key}`)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  return expected === found ? undefined : `${path}: ${JSON.stringify(expected)}, not ${JSON.stringify(found)}`
}
