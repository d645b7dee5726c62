import { assetsContract, marketContract } from '../model/contract/index.ts'
import type { DerivedRule } from './rule.ts'

/** Rows that belong to a row of another table: with that row the chain's row is compared, without it nothing is. */
export const childRules: readonly DerivedRule[] = [assetsContract.assets, marketContract.bonusfees].flatMap(
  ({ table, key, children }) =>
    children.map((child) => {
      const belongs = child.by.map((name, i) => `p.${key[i]!} = c.${name}`).join(' AND ')
      const lost = `NOT EXISTS (SELECT FROM ${table.name} p WHERE ${belongs})`
      return {
        rule: `each row of ${child.table.name} belongs to a row of ${table.name}`,
        covers: {},
        violations: `SELECT concat_ws(' ', '${child.table.name}', ${child.by.map((name) => `c.${name}`).join(', ')}) FROM ${child.table.name} c WHERE ${lost}`,
        correction: `DELETE FROM ${child.table.name} c WHERE ${lost}`,
      }
    }),
)
