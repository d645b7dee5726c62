import { assetsContract, marketContract } from '../model/contract/index.ts'
import type { DerivedRule } from './rule.ts'

/**
 * Rules that every row of a child table has its parent row. A comparison with the chain reads child rows through their
 * parent row, so the comparison does not find a child row without parent.
 */
export const childRules: readonly DerivedRule[] = [assetsContract.assets, marketContract.bonusfees].flatMap(
  ({ table, key, children }) =>
    children.map((child) => {
      const belongs = child.by.map((name, i) => `p.${key[i]!} = c.${name}`).join(' AND ')
      const lost = `NOT EXISTS (SELECT FROM ${table.name} p WHERE ${belongs})`
      return {
        rule: `each row of ${child.table.name} belongs to a row of ${table.name}`,
        covers: {},
        // The chain no longer has burned assets, but the database stores them and their backed tokens. If the row of a
        // burned asset is lost, its rows of backed tokens are correct and must not be deleted.
        ...(table === assetsContract.assets.table ? { restsOn: 'burned assets' } : {}),
        violations: `SELECT concat_ws(' ', '${child.table.name}', ${child.by.map((name) => `c.${name}`).join(', ')}) FROM ${child.table.name} c WHERE ${lost}`,
        correction: `DELETE FROM ${child.table.name} c WHERE ${lost}`,
      }
    }),
)
