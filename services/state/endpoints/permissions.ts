import { keyText, parseKeyText } from '../../core/antelope/index.ts'
import { text } from '../../core/parameters/index.ts'
import { invalidRequest, Refusal, toJsonText } from '../answers/index.ts'
import { selectKeyAccounts, selectLinks } from '../tables/permissions.ts'
import { endpoint } from './endpoint.ts'
import { withSnapshot, requirePermissions } from './stored-state.ts'
import { blockNum, name } from './parameter.ts'
import { blockNumber, commonMembers, listOf, object, optionalCommon, textValue } from './schemas.ts'

const refusals = [
  'app_block_num_higher_than_head_block_error',
  'app_block_num_lower_than_first_block_error',
  'app_block_num_not_indexed_error',
  'app_state_not_kept_error',
]

/** `GET /v0/state/permission_links`. */
export const permissionLinks = endpoint({
  path: '/v0/state/permission_links',
  methods: ['GET'],
  summary: 'Actions that an account has linked to its permissions',
  description:
    'The links are sorted by contract and action. An empty action stands for all actions of the contract.',
  tag: 'Permissions',
  needsToken: true,
  body: 'none',
  parameters: { account: name('Account.'), block_num: blockNum },
  answer: object(
    {
      ...commonMembers,
      linked_permissions: listOf(
        object({ contract: textValue, action: textValue, permission_name: textValue }),
      ),
    },
    optionalCommon,
  ),
  refusals,
  run: (values, parts) =>
    withSnapshot(parts, values, async (snapshot) => {
      requirePermissions(snapshot)
      const links = await selectLinks(snapshot.session, values.account, snapshot.block)
      return toJsonText({ ...snapshot.common, linked_permissions: links })
    }),
})

/** `GET` and `POST /v0/state/key_accounts`. */
export const keyAccounts = endpoint({
  path: '/v0/state/key_accounts',
  methods: ['GET', 'POST'],
  summary: 'Accounts with a permission that contains a public key',
  description: 'The accounts are sorted. A key that no permission has ever contained is refused.',
  tag: 'Permissions',
  needsToken: true,
  body: 'any',
  parameters: {
    public_key: text('Public key, as `EOS…`, `PUB_K1_…`, `PUB_R1_…` or `PUB_WA_…`.', {
      maximum: 512,
      required: true,
    }),
    block_num: blockNum,
  },
  answer: object({ block_num: blockNumber, account_names: listOf(textValue) }),
  refusals: [...refusals, 'data_public_key_not_found_error'],
  run: (values, parts) => {
    const key = canonicalKey(values.public_key)
    return withSnapshot(parts, values, async (snapshot) => {
      requirePermissions(snapshot)
      const accounts = await selectKeyAccounts(snapshot.session, key, snapshot.block)
      if (!accounts) {
        throw new Refusal(
          400,
          'data_public_key_not_found_error',
          `Public key '${values.public_key}' was not found at block '${snapshot.block}'.`,
          { details: { public_key: values.public_key, block_num: snapshot.block } },
        )
      }
      return toJsonText({ block_num: snapshot.block, account_names: accounts })
    })
  },
})

/**
 * The canonical spelling of a public key, in which keys are stored.
 * @throws Refusal 400.
 */
function canonicalKey(given: string): string {
  try {
    const packed = parseKeyText('PUB', given)
    return keyText('PUB', packed[0]!, packed.subarray(1))
  } catch {
    throw invalidRequest({ public_key: ['The public_key field must be a valid EOS public key'] })
  }
}
