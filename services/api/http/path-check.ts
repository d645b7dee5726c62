import type { Context } from 'koa'
import { RequestError } from '../../core/http/index.ts'

/** Step that refuses paths with malformed percent escapes. */
export function checkPath(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    if (context.path.includes('%')) decodeURIComponent(context.path)
  } catch {
    throw new RequestError(400, 'The path has a malformed percent escape: write % as %25')
  }
  return next()
}
