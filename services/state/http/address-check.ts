import type { Context } from 'koa'
import { RequestError } from '../../core/http/index.ts'

/** Refuses a request whose address has no path that can be read, such as `http://[::/`. */
export function checkAddress(context: Context, next: () => Promise<void>): Promise<void> {
  if (!hasPath(context)) throw new RequestError(400, 'The address of the request cannot be read')
  return next()
}

function hasPath(context: Context): boolean {
  try {
    return context.path !== ''
  } catch {
    return false
  }
}
