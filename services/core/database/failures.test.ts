import pg from 'pg'
import { expect, it } from 'vitest'
import { FatalError, remedyOf } from '../errors/index.ts'
import { databaseFailure, explainDatabaseError } from './failures.ts'

const place = { host: 'db', port: 5432, user: 'one', database: 'wax' }

function answer(code: string, message: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code })
}

it('the remedy for a refused connection names the connection limit that is reached', () => {
  const remedy = (message: string): string => {
    const { code, details } = databaseFailure(answer('53300', message), '', place)
    return remedyOf(code, 'process', details)
  }
  expect(remedy('sorry, too many clients already')).toMatch(/^Raise `max_connections` of the server, /)
  expect(remedy('too many connections for role "one"')).toMatch(
    /^Raise the limit of this role \(`ALTER ROLE "one" CONNECTION LIMIT -1` removes it\), /,
  )
})

it('the remedy for a missing right names the database and the user', () => {
  const refused = explainDatabaseError(answer('42501', 'permission denied'), 'creating the tables')
  expect(refused).toBeInstanceOf(FatalError)
  const { code, details } = databaseFailure(refused, '', place)
  expect(remedyOf(code, 'process', details)).toContain('`ALTER DATABASE wax OWNER TO one`')
})
