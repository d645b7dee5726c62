import { int, text } from '../../core/parameters/index.ts'
import { invalidRequest, LateRows, RawJson, Refusal, toJsonText } from '../answers/index.ts'
import { MAX_ROWS, selectRows, selectScopes } from '../tables/rows.ts'
import { parseKey, toStored } from '../tables/keys.ts'
import { toRecords } from '../tables/records.ts'
import type { KeyType } from '../tables/keys.ts'
import type { RowForm } from '../tables/records.ts'
import type { StoredRow } from '../tables/rows.ts'
import { abiText, requireAbi, requirePacked, rowDecoderAt } from './abi-at.ts'
import type { TableOf } from './abi-at.ts'
import { endpoint } from './endpoint.ts'
import type { StateParts } from './endpoint.ts'
import { withSnapshot, requireAccounts, requireTable } from './stored-state.ts'
import type { StateSnapshot } from './stored-state.ts'
import { blockNum, flag, keyType, list, name, scope } from './parameter.ts'
import {
  abiOrHex,
  blockNumber,
  commonMembers,
  listOf,
  object,
  optionalCommon,
  rowSchema,
  textValue,
} from './schemas.ts'

const account = name('Contract account.')
const table = name('Table.')
const oneScope = scope('Scope. The parameter is required, but its value may be empty.')

/** Parameters that select the block of the state and the format of the rows. */
const formParameters = {
  block_num: blockNum,
  irreversible_only: flag('Use only irreversible blocks: the newest block is the last irreversible block.'),
  json: flag('Return decoded rows instead of packed rows in hexadecimal.'),
  key_type: keyType,
  with_block_num: flag('Return with each row the block that wrote the row.'),
  with_abi: flag('Return the ABI of the rows as well: as JSON with `json`, otherwise packed in hexadecimal.'),
}

/** The records of rows; decoded chunk by chunk while the response is written. */
function lateRecords(rows: readonly StoredRow[], form: RowForm): LateRows {
  return LateRows.of(
    rows,
    ({ value }) => value.length,
    (some) => toRecords(some, form),
  )
}

const pageParameters = {
  limit: int('Maximum number of rows.', { minimum: 1, maximum: MAX_ROWS, default: MAX_ROWS }),
  offset: int('Number of rows to skip.', { minimum: 0, maximum: 100_000_000, default: 0 }),
}

interface FormValues {
  readonly json: boolean
  readonly key_type: KeyType
  readonly with_block_num: boolean
  readonly with_abi: boolean
}

const rowRefusals = [
  'app_block_num_higher_than_head_block_error',
  'app_block_num_higher_than_lib_error',
  'app_block_num_lower_than_first_block_error',
  'app_block_num_not_indexed_error',
  'app_state_not_kept_error',
  'data_abi_not_found_error',
  'data_table_not_found_error',
  'data_table_too_large_error',
]

/**
 * Returns the format of a table's rows, and the ABI if the client requests the ABI.
 * @throws Refusal 400 if there is no ABI.
 */
async function formOf(
  parts: StateParts,
  snapshot: StateSnapshot,
  tableOf: TableOf,
  values: FormValues,
): Promise<{ readonly form: RowForm; readonly abi?: RawJson }> {
  const form = {
    keyType: values.key_type,
    withBlockNum: values.with_block_num,
    decoder: null,
    onMisfit: (error: string) => parts.noteMisfit({ contract: tableOf.account, table: tableOf.table, error }),
  }
  if (!values.json && !values.with_abi) return { form }
  const abiPart = async (): Promise<{ readonly abi?: RawJson }> => {
    if (!values.with_abi) return {}
    const version = await requireAbi(parts, tableOf.account, snapshot)
    const packed = await requirePacked(parts, version)
    return {
      abi: new RawJson(values.json ? abiText(packed, version) : JSON.stringify(packed.toString('hex'))),
    }
  }
  if (!values.json) return { form, ...(await abiPart()) }
  const { decoder } = await rowDecoderAt(parts, tableOf, snapshot)
  return { form: { ...form, decoder }, ...(await abiPart()) }
}

/** `GET /v0/state/table`. */
export const tableRows = endpoint({
  path: '/v0/state/table',
  methods: ['GET'],
  summary: 'The rows of a table at a block',
  description: 'The rows are sorted by primary key as an unsigned number.',
  tag: 'Rows',
  needsToken: true,
  body: 'none',
  parameters: {
    account,
    table,
    scope: oneScope,
    ...formParameters,
    ...pageParameters,
    key: text('Only the row with this primary key, in the form of `key_type`.', { maximum: 64 }),
  },
  answer: object({ ...commonMembers, abi: abiOrHex, rows: listOf(rowSchema) }, [...optionalCommon, 'abi']),
  refusals: rowRefusals,
  async run(values, parts) {
    const { snapshot, rows, bytes } = await withSnapshot(parts, values, async (snapshot) => {
      requireAccounts(snapshot, [values.account])
      await requireTable(snapshot, values.account, values.table)
      const key = values.key === undefined ? {} : { key: storedKey('key', values.key, values.key_type) }
      const { account: owner, table: tableName, limit, offset } = values
      const query = { account: owner, table: tableName, scopes: [values.scope], limit, offset, ...key }
      const found = await selectRows(
        snapshot.session,
        { ...query, block: snapshot.block },
        parts.maxAnswerBytes,
      )
      return { snapshot, ...found }
    })
    await parts.hold(bytes)
    const { form, abi } = await formOf(parts, snapshot, values, values)
    return { ...snapshot.common, abi, rows: lateRecords(rows, form) }
  },
})

/**
 * Converts a key to its stored form.
 * @throws Refusal 400 that names the parameter.
 */
function storedKey(parameter: string, key: string, type: KeyType): bigint {
  const parsed = parseKey(key, type)
  if (parsed === null)
    throw invalidRequest({ [parameter]: [`The ${parameter} field must be a primary key of type ${type}`] })
  return toStored(parsed)
}

/** `GET /v0/state/table/row`. */
export const tableRow = endpoint({
  path: '/v0/state/table/row',
  methods: ['GET'],
  summary: 'One row of a table at a block',
  tag: 'Rows',
  needsToken: true,
  body: 'none',
  parameters: {
    account,
    table,
    scope: oneScope,
    primary_key: text('Primary key, in the form of `key_type`.', { maximum: 64, required: true }),
    ...formParameters,
  },
  answer: object({ ...commonMembers, row: rowSchema }, optionalCommon),
  refusals: [...rowRefusals, 'data_row_not_found_error'],
  async run(values, parts) {
    const key = storedKey('primary_key', values.primary_key, values.key_type)
    const { snapshot, row } = await withSnapshot(parts, values, async (snapshot) => {
      const { account: owner, table: tableName, scope: scopeName } = values
      requireAccounts(snapshot, [owner])
      await requireTable(snapshot, owner, tableName)
      const query = { account: owner, table: tableName, scopes: [scopeName], block: snapshot.block, key }
      const { rows } = await selectRows(
        snapshot.session,
        { ...query, limit: 1, offset: 0 },
        parts.maxAnswerBytes,
      )
      const [row] = rows
      if (!row) {
        const keys = { account: owner, table: tableName, scope: scopeName, primary_key: values.primary_key }
        throw new Refusal(
          400,
          'data_row_not_found_error',
          `Row '${values.primary_key}' of table '${tableName}' of account '${owner}' in scope '${scopeName}' was not found at block '${snapshot.block}'.`,
          { details: { ...keys, block_num: snapshot.block } },
        )
      }
      return { snapshot, row }
    })
    const { form } = await formOf(parts, snapshot, values, { ...values, with_abi: false })
    const [record] = await toRecords([row], form)
    return { ...snapshot.common, row: record }
  },
})

/** `GET /v0/state/table_scopes`. */
export const tableScopes = endpoint({
  path: '/v0/state/table_scopes',
  methods: ['GET'],
  summary: 'The scopes of a table at a block',
  description:
    'The scopes are sorted. The list is empty if all rows of the table were removed. A table that never had a row is refused.',
  tag: 'Rows',
  needsToken: true,
  body: 'none',
  parameters: { account, table, block_num: blockNum },
  answer: object({ block_num: blockNumber, scopes: listOf(textValue) }),
  refusals: rowRefusals.filter((code) => !/lib_error|abi/.test(code)),
  run: (values, parts) =>
    withSnapshot(parts, values, async (snapshot) => {
      requireAccounts(snapshot, [values.account])
      await requireTable(snapshot, values.account, values.table)
      const scopes = await selectScopes(snapshot.session, values.account, values.table, snapshot.block)
      return toJsonText({ block_num: snapshot.block, scopes })
    }),
})

const multiAnswer = object(
  {
    ...commonMembers,
    tables: listOf(
      object({ account: textValue, scope: textValue, abi: abiOrHex, rows: listOf(rowSchema) }, ['abi']),
    ),
  },
  optionalCommon,
)

/** `GET` and `POST /v0/state/tables/accounts`. */
export const tablesForAccounts = endpoint({
  path: '/v0/state/tables/accounts',
  methods: ['GET', 'POST'],
  summary: 'The rows of the same table of several contracts',
  description: 'The tables are sorted by account. A table that never had a row is returned without rows.',
  tag: 'Rows',
  needsToken: true,
  body: 'any',
  parameters: {
    accounts: list('Contract accounts.', 'name'),
    table,
    scope: oneScope,
    ...formParameters,
  },
  answer: multiAnswer,
  refusals: rowRefusals,
  async run(values, parts) {
    const { snapshot, found, bytes } = await withSnapshot(parts, values, async (snapshot) => {
      requireAccounts(snapshot, values.accounts)
      const found: { readonly of: TableOf; readonly rows: readonly StoredRow[] }[] = []
      let total = 0
      let left = parts.maxAnswerBytes
      for (const owner of [...values.accounts].sort()) {
        const of = { account: owner, table: values.table }
        const query = { ...of, scopes: [values.scope], block: snapshot.block, limit: MAX_ROWS, offset: 0 }
        const { rows, bytes } = await selectRows(snapshot.session, query, left)
        total += rows.length
        left -= bytes
        if (total > MAX_ROWS) throw tooManyRows(of)
        found.push({ of, rows })
      }
      return { snapshot, found, bytes: parts.maxAnswerBytes - left }
    })
    await parts.hold(bytes)
    const tables: unknown[] = []
    for (const { of, rows } of found) {
      // A table without rows is answered without an ABI, because the contract may have none.
      const isEmpty = rows.length === 0 && !values.with_abi
      const { form, abi } = isEmpty ? emptyForm : await formOf(parts, snapshot, of, values)
      tables.push({
        account: of.account,
        scope: values.scope,
        abi,
        rows: lateRecords(rows, form),
      })
    }
    return { ...snapshot.common, tables }
  },
})

const emptyForm: { readonly form: RowForm; readonly abi?: RawJson } = {
  form: { keyType: 'name', withBlockNum: false, decoder: null, onMisfit: () => undefined },
}

function tooManyRows(of: Readonly<Record<string, string>>): Refusal {
  const message = `The answer would have more than ${MAX_ROWS} rows; request fewer.`
  return new Refusal(400, 'data_table_too_large_error', message, { details: of })
}

/** `GET` and `POST /v0/state/tables/scopes`. */
export const tablesForScopes = endpoint({
  path: '/v0/state/tables/scopes',
  methods: ['GET', 'POST'],
  summary: 'The rows of a table in several scopes',
  description: 'The tables are sorted by scope.',
  tag: 'Rows',
  needsToken: true,
  body: 'any',
  parameters: { account, scopes: list('Scopes.', 'scope'), table, ...formParameters },
  answer: multiAnswer,
  refusals: rowRefusals,
  async run(values, parts) {
    const { snapshot, rows, bytes } = await withSnapshot(parts, values, async (snapshot) => {
      requireAccounts(snapshot, [values.account])
      await requireTable(snapshot, values.account, values.table)
      const { account: owner, table: tableName, scopes } = values
      const query = { account: owner, table: tableName, scopes, block: snapshot.block }
      const found = await selectRows(
        snapshot.session,
        { ...query, limit: MAX_ROWS, offset: 0 },
        parts.maxAnswerBytes,
      )
      return { snapshot, ...found }
    })
    await parts.hold(bytes)
    const { form, abi } = await formOf(parts, snapshot, values, values)
    const byScope = new Map<string, StoredRow[]>([...values.scopes].sort().map((each) => [each, []]))
    for (const row of rows) byScope.get(row.scope)?.push(row)
    const tables = [...byScope].map(([name, found]) => ({
      account: values.account,
      scope: name,
      abi,
      rows: lateRecords(found, form),
    }))
    return { ...snapshot.common, tables }
  },
})
