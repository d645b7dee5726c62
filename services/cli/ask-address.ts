import { FatalError, isConnectionRefused } from '../core/errors/index.ts'

/** Length of a body that is shown as the reason. */
const SHOWN_CHARACTERS = 500

/** @throws FatalError `USAGE` if the text is no address of HTTP. */
export function checkHttpUrl(text: string): void {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return
  throw new FatalError('USAGE', `not a URL with http:// or https://: ${text}`)
}

/**
 * Requests an address once. @returns the text of the answer.
 * @throws FatalError `SERVICE_REFUSED`, or `UNHEALTHY` with the reasons in the answer.
 */
export async function askAddress(url: string, timeoutMs: number): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    const text = await answer.text()
    if (answer.ok) return text
    throw new FatalError('UNHEALTHY', `${url} answers ${answer.status}${reasonsIn(text)}`)
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    if (isConnectionRefused(cause)) throw new FatalError('SERVICE_REFUSED', `${url} refuses connections`)
    throw new FatalError('UNHEALTHY', `${url} does not answer`, { cause })
  }
}

interface WithReasons {
  readonly reasons?: unknown
}

/** Health report of the filler, or of the api. */
interface HealthBody {
  readonly data?: WithReasons & { readonly chain?: { readonly service?: WithReasons } }
}

/** Reasons in a health report, or the text of another answer that is no page, after a colon. */
function reasonsIn(text: string): string {
  const shown = reasonsOfReport(text) ?? (text.startsWith('<') ? '' : text.replaceAll(/\s+/g, ' ').trim())
  return shown === '' ? '' : `: ${shown.slice(0, SHOWN_CHARACTERS)}`
}

function reasonsOfReport(text: string): string | null {
  try {
    const { data } = JSON.parse(text) as HealthBody
    const reasons = data?.chain?.service?.reasons ?? data?.reasons
    return Array.isArray(reasons) ? reasons.join('; ') : null
  } catch {
    return null
  }
}
