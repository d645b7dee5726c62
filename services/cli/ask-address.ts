import { FatalError, isConnectionRefused } from '../core/errors/index.ts'

/** Maximum number of characters of an answer that an error message quotes. */
const SHOWN_CHARACTERS = 500

/** Checks that the text is a URL with `http://` or `https://`. @throws FatalError `USAGE`. */
export function checkHttpUrl(text: string): void {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return
  throw new FatalError('USAGE', `not a URL with http:// or https://: ${text}`)
}

/**
 * Sends a GET request to a URL, without retries.
 * @returns the body of the answer.
 * @throws FatalError `SERVICE_REFUSED` if the connection is refused; `UNHEALTHY` if no answer arrives in
 * time, or if the answer has an error status (the message then contains the reasons of the health report).
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

/**
 * The members of a health report that contain the reasons: `data.chain.service` for the api, `data` for the
 * filler.
 */
interface HealthBody {
  readonly data?: WithReasons & { readonly chain?: { readonly service?: WithReasons } }
}

/**
 * Text to append to an error message: a colon, then the reasons of a health report or the text of another
 * answer. Empty for an HTML page.
 */
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
