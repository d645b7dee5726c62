import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../services/core/antelope/decoder/index.ts'
import type { ActivityMix, Devchain } from '../../services/devchain/index.ts'
import { blocksFrom, signedBlockOf, transactionsOf } from '../devchain/chain-blocks.ts'
import type { DecodedAction } from '../devchain/chain-blocks.ts'

/** Account of the tools contract on the development chain. */
export const TOOLS_ACCOUNT = 'atomictoolsx'

/** Activity mix with many links, the actions that links need, and burns of linked assets. */
export const linksMix: ActivityMix = {
  newAccount: 1,
  newCollection: 1,
  newSchema: 0.5,
  newTemplate: 2,
  mint: 20,
  burn: 2,
  transfer: 3,
  deploy: 30,
  announceLink: 14,
  startLink: 5,
  claimLink: 9,
  cancelLink: 4,
}

/** A link, reconstructed from the actions on the chain. */
export interface ModelLink {
  readonly link_id: string
  readonly creator: string
  readonly claimer: string | null
  readonly claimer_signature: string | null
  readonly state: number
  readonly memo: string
  readonly public_key: string
  readonly asset_ids: readonly string[]
  readonly created_at_block: number
  readonly created_at_time: number
  readonly updated_at_block: number
  readonly updated_at_time: number
}

/** An action on a link. */
export interface ModelLog {
  readonly seq: string
  readonly link_id: string
  readonly name: string
  readonly txid: string
  readonly block: number
  readonly time: number
}

/** Reads the ABI of the tools contract from the chain's HTTP interface. */
export async function toolsAbi(httpUrl: string): Promise<CompiledAbi> {
  const response = await fetch(`${httpUrl}/v1/chain/get_abi?account_name=${TOOLS_ACCOUNT}`)
  const { abi } = (await response.json()) as { abi: unknown }
  return compileAbi(normalizeAbiJson(abi))
}

/**
 * Reconstructs all links and the actions on them from the chain's traces alone.
 * @param from first block; links announced earlier are unknown.
 */
export function modelLinks(
  chain: Devchain,
  abi: CompiledAbi,
  from: number,
): { links: Map<string, ModelLink>; logs: ModelLog[] } {
  const links = new Map<string, ModelLink>()
  const logs: ModelLog[] = []
  for (const block of blocksFrom(chain, from)) {
    const time = Date.parse(`${String(signedBlockOf(block)['timestamp'])}Z`)
    const actions = transactionsOf(block).flatMap(({ id, actions: traces }) =>
      traces.filter(isOwn).map((trace) => ({ id, trace })),
    )
    actions.sort((a, b) => Number(sequenceOf(a.trace) - sequenceOf(b.trace)))
    for (const { id, trace } of actions) {
      const { name, data } = trace.act
      if (!['lognewlink', 'loglinkstart', 'claimlink', 'cancellink'].includes(name)) continue
      const said = abi.decoder<Record<string, unknown>>(abi.actionType(name)!)(data, 0, data.length)
      const linkId = String(said['link_id'])
      logs.push({ seq: String(sequenceOf(trace)), link_id: linkId, name, txid: id, block: block.num, time })
      const link = apply(links.get(linkId), name, said, { block: block.num, time })
      if (link) links.set(linkId, link)
    }
  }
  return { links, logs }
}

function isOwn({ receiver, act }: DecodedAction): boolean {
  return receiver === TOOLS_ACCOUNT && act.account === TOOLS_ACCOUNT
}

function sequenceOf(trace: DecodedAction): bigint {
  return trace.receipt[1].global_sequence
}

function apply(
  link: ModelLink | undefined,
  name: string,
  said: Record<string, unknown>,
  { block, time }: { block: number; time: number },
): ModelLink | undefined {
  const updated = { updated_at_block: block, updated_at_time: time }
  if (name === 'lognewlink') {
    return {
      link_id: String(said['link_id']),
      creator: said['creator'] as string,
      claimer: null,
      claimer_signature: null,
      state: 0,
      memo: said['memo'] as string,
      public_key: said['key'] as string,
      asset_ids: (said['asset_ids'] as bigint[]).map(String),
      created_at_block: block,
      created_at_time: time,
      ...updated,
    }
  }
  if (link === undefined) return undefined
  if (name === 'loglinkstart') return { ...link, ...updated, state: 1 }
  if (name === 'cancellink') return { ...link, ...updated, state: 2 }
  const { claimer, claimer_signature: signature } = said as { claimer: string; claimer_signature: string }
  return { ...link, ...updated, state: 3, claimer, claimer_signature: signature }
}
