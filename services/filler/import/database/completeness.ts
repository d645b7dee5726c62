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
import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'
import type { StoredEvents } from './event-rows.ts'
import { BRIEF_TEMPLATES } from './logged-facts.ts'
import { presenceRules } from './presence-rules.ts'

/** Greatest number of rows that an error message names for each broken rule. */
const MOST_NAMED = 5

/** Codes of the actions in the column `action` of each log table, by family and action name. */
const logCodes: Readonly<Record<NumberedTable['family'], Readonly<Record<string, number>>>> = {
  assets: assetsLogCodes,
  market: marketLogCodes,
  tools: toolsLogCodes,
}

/**
 * Tables whose keys are names and whose rows are created by logged actions. `numberedTables` has the tables whose keys
 * are consecutive ids.
 */
const loggedByName = ['assets.collections', 'assets.schemas']

/**
 * Columns with the number of a block in which a logged action created or burned the row. Every such block must
 * therefore have logs.
 */
const loggedBlocks: readonly (readonly [table: string, column: string])[] = [
  ...numberedTables.map(({ table, created }) => [table, created] as const),
  ...loggedByName.map((table) => [table, 'created_at_block'] as const),
  ['assets.assets', 'burned_at_block'],
]

/**
 * SQL statement that returns the greatest id among the logged creations of the rows of a table; null if no creation is
 * logged.
 */
function lastLoggedId({ family, log }: NumberedTable): string {
  return log === undefined
    ? 'SELECT max(asset_id) FROM import.mints'
    : `SELECT max(subject) FROM ${family}.logs WHERE action = ${logCodes[family][log]!}`
}

/**
 * Rule that a table has a row for every id up to the greatest known id, which is the id of a row or of a logged
 * creation. A template that one transaction created and deleted needs no row.
 *
 * The rule `denseIds` takes the greatest id from the counter of the contract instead. An import does not know the value
 * of this counter at the last imported block: the source database does not store counters, and the chain node returns
 * the counters of a later block.
 */
function countedIds(numbered: NumberedTable): Rule {
  const { table, id, created } = numbered
  const rows =
    table === 'assets.templates'
      ? `(SELECT ${id}, ${created} FROM ${table} UNION ALL SELECT template_id, 0 FROM (${BRIEF_TEMPLATES}) b) t`
      : table
  const next = `SELECT greatest((SELECT max(${id}) FROM ${rows}), (${lastLoggedId(numbered)})) + 1`
  return {
    rule: denseIds(numbered).rule,
    violations: denseIds({ ...numbered, table: rows, next }).violations,
  }
}

/**
 * Rule that finds blocks whose logs are missing in the source database: rows of `family` were created or burned in the
 * block, but no log entry of `family` is from the block.
 */
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

function loggedRows({ table, id, family, created, log }: NumberedTable): Rule {
  const lacks =
    log === undefined
      ? 'r.minted_seq IS NULL'
      : `NOT EXISTS (SELECT FROM ${family}.logs l WHERE l.action = ${logCodes[family][log]!} AND l.subject = r.${id})`
  return {
    rule: `each row of ${table} has the log of its creation`,
    violations: `SELECT concat_ws(' ', '${id}', r.${id}) FROM ${table} r WHERE r.${created} > 0 AND ${lacks} ORDER BY r.${id}`,
  }
}

/**
 * Rules that find missing logs, missing transfers, and offers and transfers without assets. A family whose logs the
 * reader does not store has no rules about logs. Transfers have a rule only if the reader stores transfers.
 */
function historyRules({ assets, marketLogs, toolsLogs }: StoredEvents): Rule[] {
  const logs = { assets: assets.logs, market: marketLogs, tools: toolsLogs }
  return [
    ...(['assets', 'market', 'tools'] as const).filter((family) => logs[family]).map(loggedBlocksOf),
    ...numberedTables.filter(({ family }) => logs[family]).map(loggedRows),
    {
      rule: 'each offer has an asset',
      violations: `SELECT concat_ws(' ', 'offer', offer_id) FROM assets.offers WHERE cardinality(sender_asset_ids || recipient_asset_ids) = 0`,
    },
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
 * Source tables with the assets of offers, auctions and buy offers. The column `index` numbers the assets of each
 * offer, auction or buy offer from 1.
 */
const placedAssets = [
  {
    of: 'the assets of each side of an offer',
    table: 'atomicassets_offers_assets',
    family: 'assets',
    contract: 'contract',
    by: ['offer_id', 'owner'],
  },
  {
    of: 'the assets of an auction',
    table: 'atomicmarket_auctions_assets',
    family: 'market',
    contract: 'market_contract',
    by: ['auction_id'],
  },
  {
    of: 'the assets of a buy offer',
    table: 'atomicmarket_buyoffers_assets',
    family: 'market',
    contract: 'market_contract',
    by: ['buyoffer_id'],
  },
] as const

/**
 * Finds offers, auctions and buy offers whose list of assets lacks a row or has a row twice. Returns one text for each
 * broken rule.
 *
 * The column `index` of the source numbers the rows of a list, so a missing row leaves a gap. The copied rows have no
 * such numbers, so the check reads the source. The check cannot find a missing row at the end of a list: the numbers
 * before it have no gap.
 */
export async function findLostAssets({ source, accounts }: PartContext): Promise<string[]> {
  const lost: string[] = []
  for (const { of, table, family, contract, by } of placedAssets) {
    const account = accounts[family]
    if (account === null) continue
    const names = by.map((column) => `'${column}', ${column}`).join(', ')
    const rule = {
      rule: `the numbers of ${of} have no gap, and each number has one row`,
      violations: `SELECT concat_ws(' ', ${names}) FROM ${table} WHERE ${contract} = ${literal(account)}
        GROUP BY ${by.join(', ')} HAVING count(*) <> max(index) ORDER BY ${by.join(', ')}`,
    }
    const broken = await findBroken((text) => source.query(text), rule, MOST_NAMED)
    if (broken !== null) lost.push(describeBroken(broken))
  }
  return lost
}

/**
 * Checks the copied rows by the rules of `verify`, `presenceRules` and `historyRules`. Returns one text for each broken
 * rule.
 */
export async function findLacking(statements: Statements, stored: StoredEvents): Promise<string[]> {
  const counted = new Map(numberedTables.map((numbered) => [denseIds(numbered).rule, countedIds(numbered)]))
  const rules = [
    ...derivedRules.map((rule) => counted.get(rule.rule) ?? rule),
    ...presenceRules,
    ...historyRules(stored),
  ]
  const lacking: string[] = []
  for (const rule of rules) {
    const broken = await findBroken((text) => statements.select(text, []), rule, MOST_NAMED)
    if (broken !== null) lacking.push(describeBroken(broken))
  }
  return lacking
}

/**
 * Returns a text that names the templates that one transaction created and deleted, or no text if there are no such
 * templates. The text starts with the name of a broken rule: `verify` and `/health` report the same rule, because these
 * templates have ids but no rows. The import accepts the missing rows, because no source database of version 2.x has
 * them.
 */
export function describeBrief(templates: readonly string[]): string[] {
  const numbered = numberedTables.find(({ table }) => table === 'assets.templates')!
  return templates.length === 0 ? [] : [`${denseIds(numbered).rule}: template_id ${templates.join(', ')}`]
}

/**
 * Refuses a source database that lacks rows, unless the operator accepts incomplete sources.
 * @throws FatalError `IMPORT_SOURCE_INCOMPLETE`.
 */
export function requireComplete(lacking: readonly string[], mayLack: boolean): void {
  if (lacking.length === 0 || mayLack) return
  throw new FatalError('IMPORT_SOURCE_INCOMPLETE', `the source is incomplete: ${lacking.join('; ')}`)
}
