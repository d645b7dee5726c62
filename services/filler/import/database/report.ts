import type { PartContext } from './copy-parts.ts'
import type { EventTotals } from './copy-steps.ts'

/** A difference between an imported database and a database that was indexed from blocks. */
export interface Difference {
  /** Tables, columns or rows that differ. */
  readonly what: string
  readonly why: string
}

export interface ReportFacts {
  readonly context: PartContext
  readonly totals: EventTotals
  readonly hasNodeTables: boolean
  /**
   * Ids of templates that have no row in the source database, because one transaction created and deleted the template.
   */
  readonly lostTemplates: readonly string[]
}

const MOST_NAMED = 20

/** Joins ids for a message: names at most MOST_NAMED ids, and then says how many more there are. */
function firstOf(ids: readonly string[]): string {
  const rest = ids.length - MOST_NAMED
  return ids.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/**
 * Lists how the imported database differs from a database that was indexed from blocks, with the reason for each
 * difference. The differences are unavoidable: the source database lacks the data.
 */
export function describeDifferences({
  context,
  totals,
  hasNodeTables,
  lostTemplates,
}: ReportFacts): Difference[] {
  const { assets, market, oracle, tools } = context.accounts
  const all: Difference[] = [
    {
      what: 'chain.abis: ABIs that the source does not have',
      why: 'the source records only setabi actions, so it lacks ABIs from the start of the chain; it may also have deleted ABIs',
    },
  ]
  if (assets !== null)
    all.push(
      {
        what: 'assets.assets.ram_payer, assets.offers.ram_payer',
        why: 'null until the row changes, because the source does not store the RAM payer of a row',
      },
      {
        what: 'assets.logs, assets.blocks: addnotifyacc',
        why: 'the source does not log the action addnotifyacc',
      },
    )
  if (market !== null)
    all.push(
      {
        what: 'market.bids.seq, market.blocks',
        why: 'the source does not store the global sequence of bids: bids get unused sequence numbers of their blocks; their order, block and transaction are correct',
      },
      {
        what: 'market.sales without an offer: asset_ids and the columns derived from them',
        why: 'the source finds the assets of a sale through its offer, so the assets of a sale that was cancelled before it had an offer are unknown',
      },
      hasNodeTables
        ? {
            what: 'market.counters, market.config: counters',
            why: 'the source does not store counters: the import reads their current values from the chain node, and the next blocks update them',
          }
        : {
            what: 'market.counters, market.config: counters',
            why: 'the counters are computed from the highest ids, because neither the source nor the chain node has the counters',
          },
    )
  if (oracle !== null)
    all.push(
      hasNodeTables
        ? {
            what: 'oracle.pairs, oracle.datapoints',
            why: 'the source stores no data points and lacks some medians: the import reads the current values from the chain node, and the next blocks update them',
          }
        : {
            what: 'oracle.pairs, oracle.datapoints',
            why: 'empty until the oracle writes again, because neither the source nor the chain node has data points',
          },
    )
  if (tools !== null)
    all.push({
      what: 'tools.links.claimer_signature',
      why: 'null, because the source stores the number of the link instead of the signature',
    })
  if (context.source.version.startsWith('2.'))
    all.push(
      {
        what: 'assets.assets: attributes called __proto__; assets.logs.packed: texts with U+0000',
        why: 'the source drops attributes of this name, and stores a space instead of U+0000',
      },
      {
        what: 'assets.config.v2_since_block, market.config.v2_since_block',
        why: 'the column contains the block of the import if the source does not store in which block the contract was upgraded to version 2',
      },
    )
  if (lostTemplates.length > 0)
    all.push({
      what: `assets.templates: ${firstOf(lostTemplates)}`,
      why: 'the source has no rows of templates that were created and deleted in one transaction',
    })
  if (totals.unpacked > 0)
    all.push({
      what: `assets.logs.packed of ${totals.unpacked} logs`,
      why: 'the data that the source logged do not fit the contract’s ABI',
    })
  if (totals.unknown.size > 0)
    all.push({
      what: `logs of the actions ${[...totals.unknown].map(([name, count]) => `${name} (${count})`).join(', ')}`,
      why: 'this version of Pronghorn does not log these actions',
    })
  return all
}
