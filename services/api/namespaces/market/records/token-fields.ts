import { field, shapeOf } from '../../../records/fields/index.ts'

/** Members that name the token of an amount; `y` is the row of the token. */
export const tokenFields = {
  token_symbol: field.name('y.token_symbol', 'Symbol code'),
  token_precision: field.integer('y.token_precision', 'Decimal places'),
  token_contract: field.name('y.token_contract', 'Account of the token contract'),
}

/** JSON schema of the token members. */
export const tokenMembers = shapeOf(tokenFields)
