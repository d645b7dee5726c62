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
 * @throws FatalError `SERVICE_REFUSED`, or `UNHEALTHY` with what a health report names as its reasons.
 */
export async function askAddress(url: string, timeoutMs: number): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    const text = await answer.text()
    if (answer.ok) return text
    throw new FatalError('UNHEALTHY', `${url} answers ${answer.status}${reasonsOf(text)}`)
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    if (isConnectionRefused(cause)) throw new FatalError('SERVICE_REFUSED', `${url} refuses connections`)
    throw new FatalError('UNHEALTHY', `${url} does not answer`, { cause })
  }
}

interface HealthBody {
  readonly data?: { readonly chain?: { readonly service?: { readonly reasons?: unknown } } }
}

/** Reasons in the health report of the api, after a colon; empty for another answer. */
function reasonsOf(text: string): string {
  try {
    const reasons = (JSON.parse(text) as HealthBody).data?.chain?.service?.reasons
    return Array.isArray(reasons) ? `: ${reasons.join('; ').slice(0, SHOWN_CHARACTERS)}` : ''
  } catch {
    return ''
  }
}
