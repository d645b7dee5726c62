import { text } from '../../core/parameters/index.ts'
import { toJsonText } from '../answers/index.ts'
import { MAX_KEY_LENGTH } from '../access/index.ts'
import { endpoint } from './endpoint.ts'
import { object, textValue } from './schemas.ts'

/** `POST /v1/auth/issue`. */
export const issue = endpoint({
  path: '/v1/auth/issue',
  methods: ['POST'],
  summary: 'A token for an API key',
  description:
    'The body is read as JSON whatever its content type. The number of tokens per minute and client address is ' +
    'limited; the headers `X-RateLimit-*` contain the remaining number. Use a token for most of its lifetime before ' +
    'you request the next token.',
  tag: 'Authentication',
  needsToken: false,
  body: 'json',
  parameters: {
    api_key: text('API key, as `pronghorn keys create` printed it.', {
      maximum: MAX_KEY_LENGTH,
      required: true,
    }),
  },
  answer: object({
    token: textValue,
    expires_at: { type: 'integer', description: 'Expiry of the token, seconds since 1970' },
  }),
  refusals: ['auth_invalid_api_key_error', 'auth_rate_limited_error'],
  async run({ api_key: key }, parts) {
    const { token, expiresAt } = await parts.issue(key)
    return toJsonText({ token, expires_at: expiresAt })
  },
})
