import type { Context } from 'koa'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sets a JSON text as the response body. */
export function sendJson(context: Context, status: number, text: string): void {
  context.status = status
  context.set('Content-Type', JSON_TYPE)
  context.body = Buffer.from(text, 'utf8')
}
