import type { WantedFields } from '../handler.ts'

/** Decoded `lognewlink`. */
export interface LogNewLink {
  link_id: bigint
  creator: string
  /** `PUB_K1_...`, `PUB_R1_...` or `PUB_WA_...`. */
  key: string
  asset_ids: readonly bigint[]
  memo: string
}

/** Decoded `claimlink`. */
export interface ClaimLink {
  link_id: bigint
  claimer: string
  /** `SIG_K1_...`, `SIG_R1_...` or `SIG_WA_...`. */
  claimer_signature: string
}

/** A row of the contract's `links`, as far as it never changes. */
export type LinkState = LogNewLink

/** The row of the contract's `config`. */
export interface ConfigState {
  version: string
  link_counter: bigint
  atomicassets_account: string
}

/** Codes of logged actions, as in tools.log_actions. */
export const logCodes = { lognewlink: 1, loglinkstart: 2, cancellink: 3, claimlink: 4 } as const

/** Actions that the handler reads. */
export const wantedActions: Readonly<Record<string, WantedFields>> = {
  lognewlink: null,
  loglinkstart: null,
  cancellink: null,
  claimlink: null,
}

/** Contract tables that the handler reads. */
export const wantedRows: Readonly<Record<string, WantedFields>> = {
  config: null,
  links: ['link_id', 'creator', 'key', 'asset_ids', 'memo'],
}
