import { changedDataMembers } from './packed-maps.ts'

/**
 * The record of a log as JSON text.
 *
 * @param members JSON members of the record, without `name` and `data`.
 * @param action name of the action.
 * @param data JSON object of what it said, or null when nothing.
 * @param packed old and new attribute map as the action packed them, or null.
 */
export function renderLog(
  members: string,
  action: string,
  data: string | null,
  packed: Uint8Array | null,
): string {
  return `{${members},"name":"${action}","data":${mergedData(data ?? '{}', packed)}}`
}

function mergedData(data: string, packed: Uint8Array | null): string {
  if (packed === null) return data
  const own = data.slice(1, -1)
  return `{${own === '' ? '' : `${own},`}${changedDataMembers(packed)}}`
}
