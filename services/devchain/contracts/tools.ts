import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { readRow } from './assets-shared.ts'
import { TOOLS_ACCOUNT } from './market-rows.ts'
import type { LinkRow, ToolsConfigRow } from './market-rows.ts'
import { sameAssets } from './market-shared.ts'
import { nameValue } from '../runtime/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'

/** Handlers of the link actions, and of asset transfers to the tools contract. */
export const toolsActions: readonly [string, ActionHandler][] = [
  ['init', initialize],
  ['announcelink', announceLink],
  ['lognewlink', (context) => context.notify((context.data() as LinkRow).creator)],
  ['claimlink', claimLink],
  ['cancellink', cancelLink],
  [`${ASSETS_ACCOUNT}::transfer`, startLink],
]

function initialize(context: ActionContext): void {
  putConfig(context, { version: '1.0.0', link_counter: 1n, atomicassets_account: ASSETS_ACCOUNT })
}

function announceLink(context: ActionContext): void {
  const data = context.data() as Pick<LinkRow, 'creator' | 'key' | 'asset_ids' | 'memo'>
  const stored = context.host.row(TOOLS_ACCOUNT, 'config', TOOLS_ACCOUNT, nameValue('config'))
  const config = readRow(stored, 'a tools config row') as unknown as ToolsConfigRow
  const id = config.link_counter
  putConfig(context, { ...config, link_counter: id + 1n })
  putLink(context, { ...data, link_id: id, assets_transferred: false })
  context.log('lognewlink', { ...data, link_id: id })
}

/** Handler of an asset transfer with the memo `link`: starts the sender's announced link of these assets. */
function startLink(context: ActionContext): void {
  const data = context.data() as { from: string; to: string; asset_ids: bigint[]; memo: string }
  if (data.to !== context.self || data.memo !== 'link') return
  const account = nameValue(TOOLS_ACCOUNT)
  const table = context.host.state.rows.table(account, account, nameValue('links'))
  for (const key of [...(table?.rows.keys() ?? [])].reverse()) {
    const link = linkOf(context, key)
    if (link.creator !== data.from || !sameAssets(link.asset_ids, data.asset_ids)) continue
    putLink(context, { ...link, assets_transferred: true })
    context.log('loglinkstart', { link_id: link.link_id })
    return
  }
}

function claimLink(context: ActionContext): void {
  const { link_id: id, claimer } = context.data() as { link_id: bigint; claimer: string }
  endLink(context, linkOf(context, id), claimer, 'Claimed link')
}

function cancelLink(context: ActionContext): void {
  const { link_id: id } = context.data() as { link_id: bigint }
  const link = linkOf(context, id)
  endLink(context, link, link.creator, 'Cancelled link')
}

function endLink(context: ActionContext, link: LinkRow, to: string, memo: string): void {
  context.erase('links', TOOLS_ACCOUNT, link.link_id)
  if (!link.assets_transferred) return
  context.send(ASSETS_ACCOUNT, 'transfer', { from: TOOLS_ACCOUNT, to, asset_ids: link.asset_ids, memo })
}

function linkOf(context: ActionContext, id: bigint): LinkRow {
  return readRow(context.get('links', TOOLS_ACCOUNT, id), `link ${id}`)
}

function putLink(context: ActionContext, link: LinkRow): void {
  context.put({ table: 'links', scope: TOOLS_ACCOUNT, key: link.link_id, payer: link.creator }, { ...link })
}

function putConfig(context: ActionContext, config: ToolsConfigRow): void {
  context.put(
    { table: 'config', scope: TOOLS_ACCOUNT, key: nameValue('config'), payer: TOOLS_ACCOUNT },
    { ...config },
  )
}
