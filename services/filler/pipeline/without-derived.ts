import type { Handler } from '../handlers/index.ts'
import type { RowSink } from '../rows/operations.ts'

/**
 * Wraps a handler so that its rows are written without derived rows: the baseline when measuring what derived rows
 * cost.
 */
export function withoutDerived(handler: Handler): Handler {
  return {
    ...handler,
    derived: [],
    open: (block, state, sink, warn) => handler.open(block, state, deafToRechecks(sink), warn),
  }
}

function deafToRechecks(sink: RowSink): RowSink {
  return {
    insert: (table, row) => sink.insert(table, row),
    upsert: (table, row) => sink.upsert(table, row),
    patch: (table, key, changes) => sink.patch(table, key, changes),
    remove: (table, key) => sink.remove(table, key),
    replaceGroup: (table, group, rows) => sink.replaceGroup(table, group, rows),
    add: (table, increments) => sink.add(table, increments),
    append: (table, row) => sink.append(table, row),
    version: (table, row) => sink.version(table, row),
    end: (table, key, block) => sink.end(table, key, block),
    forget: (table, before) => sink.forget(table, before),
    recheck: () => undefined,
  }
}
