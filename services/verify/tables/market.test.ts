import { expect, it } from 'vitest'
import { marketTables } from './market.ts'

it('a bonus fee that names a counter twice is compared by its first range', () => {
  const table = marketTables.find(({ name }) => name === 'market.bonus_fees')!
  const open = (2n ** 64n - 1n).toString()
  const counter_ranges = [
    { counter_name: 'sale', start_id: 5, end_id: 9 },
    { counter_name: 'auction', start_id: 1, end_id: open },
    { counter_name: 'sale', start_id: 20, end_id: open },
  ]
  const data = { bonusfee_id: 3, fee: '0.01', fee_recipient: 'dan', fee_name: 'x', counter_ranges }
  const context = { collectionFormat: [], formatOf: () => [] }
  expect(table.expect({ data, scope: 'market' }, context)).toMatchObject({
    key: ['3'],
    values: {
      ranges: [
        { counter_name: 'auction', start_id: '1', end_id: null },
        { counter_name: 'sale', start_id: '5', end_id: '9' },
      ],
    },
  })
})
