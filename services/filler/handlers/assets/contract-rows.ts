import { attributesToJsonText, decodeAttributes } from '../../../core/antelope/attributes/index.ts'
import { parseAsset, parseSymbol } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo, BlockStart, RowEvent } from '../handler.ts'
import { toJsonText } from '../../rows/json-text.ts'
import type {
  AuthorSwapState,
  BalanceState,
  CollectionState,
  ConfigState,
  LogBackAsset,
  SchemaState,
  SchemaTypesState,
  TokenConfigState,
} from './contract.ts'
import type { AssetsState } from './state.ts'
import { tables } from './tables.ts'
import type { SchemaRow, TokenRow } from './tables.ts'

export interface RowsStart extends BlockStart<AssetsState> {
  readonly account: string
  readonly warn: (message: string) => void
}

/** Copies contract tables whose rows at the end of the block are stored unchanged. */
export class ContractRows {
  /** Handler state, updated by the block's rows. */
  state: AssetsState
  readonly #contract: string
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #warn: (message: string) => void
  /** Media types of schemas that the block's rows set. */
  readonly #types: Pick<SchemaRow, 'collection_name' | 'schema_name' | 'types'>[] = []

  constructor({ account, block, state, sink, warn }: RowsStart) {
    this.#contract = account
    this.#block = block
    this.state = state
    this.#sink = sink
    this.#warn = warn
  }

  config(value: ConfigState): void {
    const format = value.collection_format.map(({ name, type }) => ({ name, type }))
    this.#ensureConfig()
    this.#sink.patch(
      tables.config,
      { contract: this.#contract },
      {
        asset_counter: value.asset_counter,
        template_counter: value.template_counter,
        offer_counter: value.offer_counter,
        collection_format: toJsonText(format),
      },
    )
    this.state = { ...this.state, collectionFormat: format }
    for (const { sym, contract } of value.supported_tokens) {
      const { precision, symbol } = parseSymbol(sym)
      this.#token({ token_symbol: symbol, token_precision: precision, token_contract: contract })
    }
  }

  /**
   * Writes a supported token if the token changed. The config row changes with every asset and offer, but the tokens in
   * the row rarely change.
   */
  #token(token: TokenRow): void {
    const known = this.state.tokens.get(token.token_symbol)
    const isSame =
      known?.token_precision === token.token_precision && known.token_contract === token.token_contract
    if (isSame) return
    this.state = { ...this.state, tokens: new Map(this.state.tokens).set(token.token_symbol, token) }
    this.#sink.upsert(tables.tokens, token)
  }

  tokenConfigs(value: TokenConfigState): void {
    this.#ensureConfig()
    const isV2 = Number.parseInt(value.version, 10) >= 2
    const v2SinceBlock = this.state.v2SinceBlock ?? (isV2 ? this.#block.num : null)
    this.#sink.patch(
      tables.config,
      { contract: this.#contract },
      { standard: value.standard, version: value.version, v2_since_block: v2SinceBlock },
    )
    this.state = { ...this.state, version: value.version, v2SinceBlock }
  }

  balances(value: BalanceState, present: boolean): void {
    const updated = { updated_at_time: this.#block.timeMs, updated_at_block: this.#block.num }
    const rows = (present ? value.quantities : []).map((quantity) => {
      const { symbol, amount } = parseAsset(quantity)
      return { owner: value.owner, token_symbol: symbol, amount, ...updated }
    })
    this.#sink.replaceGroup(tables.balances, { owner: value.owner }, rows)
  }

  collections(value: CollectionState): void {
    const { attributes, problem } = decodeAttributes(this.state.collectionFormat, value.serialized_data)
    if (problem) this.#warn(`data of collection ${value.collection_name}: ${problem.message}`)
    this.#sink.upsert(tables.collections, {
      collection_name: value.collection_name,
      created_at_time: this.#block.timeMs,
      created_at_block: this.#block.num,
      market_fee: value.market_fee,
      allow_notify: value.allow_notify,
      author: value.author,
      authorized_accounts: value.authorized_accounts,
      notify_accounts: value.notify_accounts,
      data: attributesToJsonText(attributes),
    })
  }

  authorSwaps(value: AuthorSwapState, present: boolean): void {
    if (present) {
      this.#sink.upsert(tables.authorSwaps, {
        collection_name: value.collection_name,
        acceptance_date: value.acceptance_date,
        current_author: value.current_author,
        new_author: value.new_author,
      })
    } else {
      this.#sink.remove(tables.authorSwaps, { collection_name: value.collection_name })
    }
  }

  schemas(event: RowEvent<'schemas', SchemaState>): void {
    const value = event.value()
    this.#sink.upsert(tables.schemas, {
      collection_name: event.scope(),
      schema_name: value.schema_name,
      created_at_time: this.#block.timeMs,
      created_at_block: this.#block.num,
      format: toJsonText(value.format.map(({ name, type }) => ({ name, type }))),
      types: null,
    })
  }

  /**
   * Remembers the media types of a schema until the end of the block, because the schema row may come later in the
   * block.
   */
  schemaTypes(event: RowEvent<'schematypes', SchemaTypesState>): void {
    const value = event.value()
    const types = event.present
      ? toJsonText(value.format_type.map(({ name, mediatype, info }) => ({ name, mediatype, info })))
      : null
    this.#types.push({ collection_name: event.scope(), schema_name: value.schema_name, types })
  }

  end(): void {
    for (const { types, ...schema } of this.#types) this.#sink.patch(tables.schemas, schema, { types })
  }

  backAsset(log: LogBackAsset): void {
    const { symbol, amount } = parseAsset(log.backed_token)
    this.#sink.add(tables.backedTokens, { asset_id: log.asset_id, token_symbol: symbol, amount })
  }

  #ensureConfig(): void {
    if (this.state.known) return
    this.state = { ...this.state, known: true }
    this.#sink.insert(tables.config, {
      contract: this.#contract,
      standard: null,
      version: null,
      v2_since_block: null,
      asset_counter: null,
      template_counter: null,
      offer_counter: null,
      collection_format: '[]',
    })
  }
}
