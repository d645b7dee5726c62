import { expect } from 'vitest'
import type { TestServer } from './server.ts'

/** A JSON object. */
export interface Row {
  readonly [key: string]: unknown
}

/** Members of an asset record that tests use. */
export interface Asset extends Row {
  readonly asset_id: string
  readonly owner: string | null
  readonly burned_by_account: string | null
  readonly collection: { readonly collection_name: string }
  readonly schema: { readonly schema_name: string }
  readonly template: { readonly template_id: string } | null
  readonly template_mint: string
  readonly mutable_data: Row
}

/** Members of a template record that tests use. */
export interface Template extends Row {
  readonly template_id: string
  readonly collection: { readonly collection_name: string }
}

/** Requests paths of a namespace. Returns `data` of the answer, or the failure. */
export interface Reading {
  /** `data` of an answer; throws if the answer is no success. */
  readonly get: <T>(path: string, init?: RequestInit) => Promise<T>
  /** Reads all rows of a list, page by page. */
  readonly everything: <T>(path: string, limit: number) => Promise<T[]>
  /** Status and message of a failed request. */
  readonly failure: (path: string) => Promise<string>
}

/** Creates functions that request paths below a server's namespace. */
export function readingOf(server: Pick<TestServer, 'get'>): Reading {
  async function get<T>(path: string, init?: RequestInit): Promise<T> {
    const { status, body } = await server.get(path, init)
    expect([path, status, body.success, typeof body.query_time]).toEqual([path, 200, true, 'number'])
    return body.data as T
  }
  return {
    get,
    async everything<T>(path: string, limit: number) {
      const rows: T[] = []
      for (let page = 1; ; page++) {
        const more = await get<T[]>(`${path}?limit=${limit}&page=${page}`)
        rows.push(...more)
        if (more.length < limit) return rows
      }
    },
    async failure(path) {
      const { status, body } = await server.get(path)
      return `${status} ${body.message!}`
    },
  }
}
