import type { Context } from 'koa'
import { RequestError } from '../../core/http/index.ts'

/** Step that refuses a request target without a parsable path, such as `http://[::/`. */
export function checkAddress(context: Context, next: () => Promise<void>): Promise<void> {
  if (!hasPath(context)) throw new RequestError(400, 'The URL of the request cannot be parsed')
  return next()
}

function hasPath(context: Context): boolean {
  try {
    return context.path !== ''
  } catch {
    return false
  }
}
