import type { Middleware } from 'koa'
import { notesOf } from '../../core/http/index.ts'
import type { Mount } from './routes.ts'

/** Step that notes the namespace of a request by its path, for limits and metrics, even if no route matches. */
export function createNamespaceStep(mounts: readonly Mount[]): Middleware {
  const prefixes = mounts
    .flatMap(({ namespace, paths }) =>
      paths.map((path) => ({ path: path.toLowerCase(), name: namespace.name })),
    )
    // One path may begin with another: the longer one is meant.
    .sort((one, other) => other.path.length - one.path.length)
  return (context, next) => {
    const path = context.path.toLowerCase()
    const mount = prefixes.find((each) => isUnder(path, each.path))
    if (mount) notesOf(context).namespace = mount.name
    return next()
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
