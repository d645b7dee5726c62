import { logCodesOf, logged, struct } from '../declaration.ts'
import type { ActionOf, RowOf } from '../handler.ts'

/** Common fields of all actions on a claim link. */
export interface LinkAction {
  link_id: bigint
}

/** Decoded data of the action `lognewlink`. */
export interface LogNewLink {
  link_id: bigint
  creator: string
  /** Public key as `PUB_K1_...`, `PUB_R1_...` or `PUB_WA_...`. */
  key: string
  asset_ids: readonly bigint[]
  memo: string
}

/** Decoded data of the action `claimlink`. */
export interface ClaimLink {
  link_id: bigint
  claimer: string
  /** Signature as `SIG_K1_...`, `SIG_R1_...` or `SIG_WA_...`. */
  claimer_signature: string
}

/** The immutable fields of a row of the contract table `links`. */
export type LinkState = LogNewLink

/** The row of the contract table `config`. */
export interface ConfigState {
  version: string
  link_counter: bigint
  atomicassets_account: string
}

/** Actions that the handler reads, with their codes in tools.log_actions. */
export const actions = {
  lognewlink: logged(1, struct<LogNewLink>()),
  loglinkstart: logged(2, struct<LinkAction>()),
  cancellink: logged(3, struct<LinkAction>()),
  claimlink: logged(4, struct<ClaimLink>()),
}

/** Contract tables that the handler reads. */
export const rows = {
  config: struct<ConfigState>().withWide('link_counter'),
  links: struct<LinkState>().only('link_id', 'creator', 'key', 'asset_ids', 'memo'),
}

/** Log code of each logged action. */
export const logCodes = logCodesOf(actions)

export type ToolsAction = ActionOf<typeof actions>
export type ToolsRowEvent = RowOf<typeof rows>
