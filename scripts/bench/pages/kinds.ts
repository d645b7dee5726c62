import type pg from 'pg'
import { Random } from '../generated/choice.ts'
import { pickAddresses, rateRoutes } from '../rates/routes.ts'
import { trafficKinds, TrafficRows } from '../traffic/index.ts'

/** A kind of request whose pages are counted. */
export interface PageKind {
  readonly name: string
  /** Picks the URLs of `count` requests of this kind. */
  readonly pick: (database: pg.ClientBase, count: number) => Promise<readonly string[]>
}

/** Prefix of the names of kinds that are routes of the bench `rates`. */
const RATE = 'rate: '

/** All kinds of request of the bench `traffic`, and all routes of the bench `rates`. */
export const pageKinds: readonly PageKind[] = [
  ...trafficKinds.map(({ name, address }): PageKind => ({
    name,
    pick: async (database, count) => {
      const rows = await TrafficRows.open(database, new Random(`pages ${name}`))
      const addresses: string[] = []
      for (let index = 0; index < count; index++) addresses.push(await address(rows, index))
      return addresses
    },
  })),
  ...rateRoutes.map((route): PageKind => ({
    name: RATE + route.name,
    // Several rows can give the same URL, and URLs are distinct: sample twice as many rows as URLs are needed.
    pick: async (database, count) => {
      const random = new Random(`pages ${route.name}`)
      return (await pickAddresses(database, route, random, count * 2)).slice(0, count)
    },
  })),
]
