import type { Findings } from './findings.ts'
import { handlersWithStart, startBlockProblem } from './schema/index.ts'
import type { ContractConfig, HandlerName } from './schema/index.ts'
import type { ReaderView } from './views.ts'

/** Checks of the readers file that involve several keys. */
export function checkReaders(
  readers: readonly ReaderView[],
  findings: Findings,
  chainId: string | undefined,
): void {
  const names = new Map<string, number>()
  readers.forEach((reader, at) => {
    checkRange(reader, at, findings)
    if (chainId !== undefined) checkStart(reader, at, chainId, findings)
    warnAboutHistory(reader, at, findings)
    if (reader.name === undefined) return
    const first = names.get(reader.name)
    if (first === undefined) names.set(reader.name, at)
    else findings.refuse('readers', [at, 'name'], `another name: reader [${first}] already has this name`)
  })
  const families = collectFamilies(readers, findings)
  checkAccounts(readers, families, findings)
  checkNeeds(readers, families, findings)
}

function checkRange(reader: ReaderView, at: number, findings: Findings): void {
  const { start_block: start, stop_block: stop } = reader
  if (start === undefined || stop === undefined || stop === 0 || stop >= start) return
  const allowed = `0 (never stop), or a block not below \`start_block\`, which is ${start}`
  findings.refuse('readers', [at, 'stop_block'], allowed)
}

function checkStart(reader: ReaderView, at: number, chainId: string, findings: Findings): void {
  const { start_block: start, contracts } = reader
  if (start === undefined || reader.start_block_override === true) return
  if (!contracts.some((contract) => contract && handlersWithStart.includes(contract.handler))) return
  const allowed = startBlockProblem(chainId, start, '"start_block_override": true')
  if (allowed !== undefined) findings.refuse('readers', [at, 'start_block'], allowed)
}

function warnAboutHistory(reader: ReaderView, at: number, findings: Findings): void {
  reader.contracts.forEach((contract, index) => {
    if (contract?.handler !== 'assets' || contract.args.store_transfers) return
    const path = [at, 'contracts', index, 'args', 'store_transfers']
    findings.warn('readers', path, 'the history of transfers is not stored, so /v1/transfers will be empty')
  })
}

interface IndexedContract {
  readonly reader: string
  readonly account: string
  readonly place: string
}

type IndexedFamilies = Map<HandlerName, IndexedContract>

/**
 * Collects the indexed families. A database contains one contract per family, and only one reader may write a family.
 */
function collectFamilies(readers: readonly ReaderView[], findings: Findings): IndexedFamilies {
  const families: IndexedFamilies = new Map()
  readers.forEach((reader, at) => {
    reader.contracts.forEach((contract, index) => {
      if (!contract) return
      const name = reader.name ?? `[${at}]`
      const first = families.get(contract.handler)
      if (!first) {
        const place = `[${at}].contracts[${index}]`
        families.set(contract.handler, { reader: name, account: accountOf(contract), place })
        return
      }
      findings.refuse(
        'readers',
        [at, 'contracts', index],
        `at most one ${contract.handler} ${contract.handler === 'state' ? 'handler' : 'contract'} in a database: reader "${name}" would index "${accountOf(contract)}" ` +
          `while reader "${first.reader}" indexes "${first.account}" (${first.place})`,
      )
    })
  })
  return families
}

/** Refuses an account that is configured for contracts of two families. */
function checkAccounts(readers: readonly ReaderView[], families: IndexedFamilies, findings: Findings): void {
  const owners = new Map<string, HandlerName>()
  for (const [family, { account }] of families)
    if (family !== 'state' && !owners.has(account)) owners.set(account, family)
  readers.forEach((reader, at) => {
    reader.contracts.forEach((contract, index) => {
      if (!contract || contract.handler === 'state') return
      const owner = owners.get(accountOf(contract))
      if (owner === undefined || owner === contract.handler) return
      const path = [at, 'contracts', index, 'args', `${contract.handler}_account`]
      findings.refuse('readers', path, `another account: the ${owner} handler already indexes this account`)
    })
  })
}

/** Contract account of a handler. */
export function accountOf(contract: ContractConfig): string {
  switch (contract.handler) {
    case 'assets':
      return contract.args.assets_account
    case 'market':
      return contract.args.market_account
    case 'oracle':
      return contract.args.oracle_account
    case 'tools':
      return contract.args.tools_account
    case 'state':
      return contract.args.accounts.join(', ')
  }
}

/**
 * Checks that the families on which other families depend are indexed. Market and tools data refer to assets. The
 * market handler derives values from assets and oracle medians of the same block, so the reader of the market must also
 * index both families.
 */
function checkNeeds(readers: readonly ReaderView[], families: IndexedFamilies, findings: Findings): void {
  const isWhole = readers.every((reader) => reader.contracts.every((contract) => contract !== undefined))
  readers.forEach((reader, at) => {
    reader.contracts.forEach((contract, index) => {
      for (const need of needsOf(contract))
        checkNeed(need, {
          path: [at, 'contracts', index],
          isWhole,
          reader: reader.name ?? `[${at}]`,
          families,
          findings,
        })
    })
  })
}

interface Need {
  readonly of: HandlerName
  readonly family: HandlerName
  readonly argument: string
  readonly account: string | undefined
}

function needsOf(contract: ContractConfig | undefined): Need[] {
  if (contract?.handler !== 'market' && contract?.handler !== 'tools') return []
  const of = contract.handler
  const needs: Need[] = [
    { of, family: 'assets', argument: 'assets_account', account: contract.args.assets_account },
  ]
  if (contract.handler === 'market') {
    needs.push({ of, family: 'oracle', argument: 'oracle_account', account: contract.args.oracle_account })
  }
  return needs
}

/**
 * Input of `checkNeed`. If a handler uses the data of another handler, `checkNeed` requires that the other handler is
 * configured.
 */
interface NeedContext {
  readonly path: readonly (string | number)[]
  /**
   * Whether all entries of all readers are valid. If an entry is invalid, it may be the handler that a check misses, so
   * the check reports nothing.
   */
  readonly isWhole: boolean
  readonly reader: string
  readonly families: IndexedFamilies
  readonly findings: Findings
}

function checkNeed({ of, family, argument, account }: Need, context: NeedContext): void {
  const { path, isWhole, reader, families, findings } = context
  const indexed = families.get(family)
  if (indexed && of === 'market' && indexed.reader !== reader) {
    const allowed = `"market" if this reader also has an ${family} handler, which now belongs to reader "${indexed.reader}"`
    findings.refuse(
      'readers',
      [...path, 'handler'],
      allowed,
      `"market" in a reader without an ${family} handler`,
    )
    return
  }
  if (indexed && (account === undefined || account === indexed.account)) return
  if (indexed) {
    const allowed = `"${indexed.account}", the account that the ${family} handler of reader "${indexed.reader}" indexes`
    findings.refuse('readers', [...path, 'args', argument], allowed)
  } else if (isWhole) {
    const which = account === undefined ? '' : ` for "${account}"`
    const place = of === 'market' ? ' in this reader' : ', in this reader or another'
    const allowed = `"${of}" if there is also an ${family} handler${which}${place}`
    findings.refuse('readers', [...path, 'handler'], allowed, `"${of}" without an ${family} handler`)
  }
}
