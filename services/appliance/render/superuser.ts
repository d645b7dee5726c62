import { readFile } from 'node:fs/promises'
import type { ConfigProblem } from '../../core/config/index.ts'

/**
 * A password of 1 to 1000 characters on one line. A byte order mark, or the replacement character for bytes that are no
 * UTF-8, belongs to no password.
 */
const PASSWORD = /^[^\0\r\n\ufeff\ufffd]{1,1000}$/

/** Whether a text can be a password of the superuser. The caller has removed the final line break. */
export const isPassword = (text: string): boolean => PASSWORD.test(text)

/**
 * Reads the password of the superuser of the operator's own PostgreSQL, without a final line break. The password is in
 * a file, because `docker inspect` shows environment variables.
 */
export async function readSuperuserPassword(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
}

/** Problems of the file with the password. @param shown path of the file on the host. */
export async function checkSuperuserPassword(file: string, shown: string): Promise<ConfigProblem[]> {
  const refuse = (why: string): ConfigProblem[] => [
    {
      file: 'environment',
      path: 'POSTGRES_SUPERUSER_PASSWORD_FILE',
      found: `${JSON.stringify(shown)} (${why})`,
      allowed: 'a file with the password on its only line, readable by the user with the number 1000',
    },
  ]
  try {
    const password = await readSuperuserPassword(file)
    if (password === '') return refuse('the file is empty')
    return isPassword(password) ? [] : refuse('the file does not contain a password')
  } catch (error) {
    return refuse(`the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`)
  }
}
