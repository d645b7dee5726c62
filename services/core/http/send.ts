import type { Context } from 'koa'

/** Content type of JSON. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends JSON text. */
export function sendJson(context: Context, status: number, text: string): void {
  context.status = status
  context.set('Content-Type', JSON_TYPE)
  context.body = Buffer.from(text, 'utf8')
}
