import type { Context } from 'koa'
import { RequestError } from '../../core/http/index.ts'

/** Refuses a request whose address has no path that can be read, such as `http://[::/`. */
export function checkAddress(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    void context.path
  } catch {
    throw new RequestError(400, 'The address of the request cannot be read')
  }
  return next()
}
