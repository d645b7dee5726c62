import {
  denseIds,
  describeBroken,
  derivedRules,
  findBroken,
  numberedTables,
} from '../../../core/derived/index.ts'
import type { NumberedTable, Rule } from '../../../core/derived/index.ts'
import { FatalError } from '../../../core/errors/index.ts'
import { assetsLogCodes } from '../../handlers/assets/index.ts'
import { marketLogCodes } from '../../handlers/market/index.ts'
import { toolsLogCodes } from '../../handlers/tools/index.ts'
import type { Statements } from '../../store/index.ts'
import type { StoredEvents } from './event-rows.ts'
import { BRIEF_TEMPLATES } from './logged-facts.ts'

/** Rows that break a rule and that a message names. */
const MOST_NAMED = 5

/** Log that each row of a table began with, by its code; assets have the sequence of their mint instead. */
const creationLogs: Readonly<Record<string, number>> = {
  'assets.templates': assetsLogCodes.lognewtempl,
  'assets.offers': assetsLogCodes.lognewoffer,
  'market.sales': marketLogCodes.lognewsale,
  'market.auctions': marketLogCodes.lognewauct,
  'market.buyoffers': marketLogCodes.lognewbuyo,
  'market.template_buyoffers': marketLogCodes.lognewtbuyo,
  'tools.links': toolsLogCodes.lognewlink,
}

/** Tables without ids from a counter whose rows begin with a log. */
const loggedByName = ['assets.collections', 'assets.schemas']

/** Columns with a block in which an action was logged, by table. */
const loggedBlocks: readonly (readonly [table: string, column: string])[] = [
  ...numberedTables.map(({ table, created }) => [table, created] as const),
  ...loggedByName.map((table) => [table, 'created_at_block'] as const),
  ['assets.assets', 'burned_at_block'],
]

/**
 * The source does not store the counters of the contracts, and those of the node are of a later block: ids are counted
 * up to the greatest one, and of templates also those that had no row at the end of any block.
 */
function countedIds(numbered: NumberedTable): Rule {
  const { table, id, created } = numbered
  const rows =
    table === 'assets.templates'
      ? `(SELECT ${id}, ${created} FROM ${table} UNION ALL SELECT template_id, 0 FROM (${BRIEF_TEMPLATES}) b) t`
      : table
  return {
    rule: denseIds(numbered).rule,
    violations: denseIds({ ...numbered, table: rows, next: `SELECT max(${id}) + 1 FROM ${rows}` }).violations,
  }
}

/** A hole in the blocks that the source read: rows name a block of which no log is there. */
function loggedBlocksOf(family: string): Rule {
  const blocks = loggedBlocks
    .filter(([table]) => table.startsWith(`${family}.`))
    .map(([table, column]) => `SELECT ${column} AS num FROM ${table} WHERE ${column} > 0`)
  return {
    rule: `each block in which rows of ${family} were created has logs`,
    violations: `SELECT concat_ws(' ', 'block', num) FROM (${blocks.join(' UNION ')}) n
      WHERE NOT EXISTS (SELECT FROM ${family}.blocks b WHERE b.block_num = num) ORDER BY num`,
  }
}

function loggedRows({ table, id, family, created }: NumberedTable): Rule {
  const code = creationLogs[table]
  const lacks =
    code === undefined
      ? 'r.minted_seq IS NULL'
      : `NOT EXISTS (SELECT FROM ${family}.logs l WHERE l.action = ${code} AND l.subject = r.${id})`
  return {
    rule: `each row of ${table} has the log of its creation`,
    violations: `SELECT concat_ws(' ', '${id}', r.${id}) FROM ${table} r WHERE r.${created} > 0 AND ${lacks} ORDER BY r.${id}`,
  }
}

/** Rules that complete logs and transfers follow, where the reader stores them. */
function historyRules({ assets, marketLogs, toolsLogs }: StoredEvents): Rule[] {
  const logs = { assets: assets.logs, market: marketLogs, tools: toolsLogs }
  return [
    ...(['assets', 'market', 'tools'] as const).filter((family) => logs[family]).map(loggedBlocksOf),
    ...numberedTables
      .filter(({ family, table }) => logs[family] && (table === 'assets.assets' || table in creationLogs))
      .map(loggedRows),
    {
      rule: 'each transfer moves an asset',
      violations: `SELECT concat_ws(' ', 'transfer', transfer_id) FROM assets.transfers WHERE cardinality(asset_ids) = 0`,
    },
    ...(assets.transfers
      ? [
          {
            rule: 'each asset that is not with its first owner has transfers',
            violations: `SELECT concat_ws(' ', 'asset', asset_id) FROM assets.assets a
              WHERE NOT EXISTS (SELECT FROM assets.transfers) AND minted_at_block > 0
                AND initial_receiver <> coalesce(owner, burned_by_account)`,
          },
        ]
      : []),
  ]
}

/**
 * Checks the copied rows by the rules of `verify` and by those that only hold for what a source has read from the first
 * block on; one text for each broken rule.
 */
export async function findLacking(statements: Statements, stored: StoredEvents): Promise<string[]> {
  const counted = new Map(numberedTables.map((numbered) => [denseIds(numbered).rule, countedIds(numbered)]))
  const rules = [...derivedRules.map((rule) => counted.get(rule.rule) ?? rule), ...historyRules(stored)]
  const lacking: string[] = []
  for (const rule of rules) {
    const broken = await findBroken((text) => statements.select(text, []), rule, MOST_NAMED)
    if (broken !== null) lacking.push(describeBroken(broken))
  }
  return lacking
}

/** Templates that no source of 2.x has, as `verify` and `/health` name them; their ids are no gap to refuse. */
export function describeBrief(templates: readonly string[]): string[] {
  const numbered = numberedTables.find(({ table }) => table === 'assets.templates')!
  return templates.length === 0 ? [] : [`${denseIds(numbered).rule}: template_id ${templates.join(', ')}`]
}

/** Refuses a source that lacks rows, unless the operator accepts that. @throws FatalError `IMPORT_SOURCE_INCOMPLETE`. */
export function requireComplete(lacking: readonly string[], mayLack: boolean): void {
  if (lacking.length === 0 || mayLack) return
  throw new FatalError('IMPORT_SOURCE_INCOMPLETE', `the source is incomplete: ${lacking.join('; ')}`)
}
