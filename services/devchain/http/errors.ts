/** An error of the chain API in a node's format: HTTP status, and the error code and name of the node's library. */
export class ChainApiError extends Error {
  readonly status: number
  readonly errorCode: number
  readonly errorName: string

  constructor(status: number, errorCode: number, errorName: string, message: string) {
    super(message)
    this.status = status
    this.errorCode = errorCode
    this.errorName = errorName
  }

  /** JSON body of the error response. */
  body(): unknown {
    return {
      code: this.status,
      message: httpMessages[this.status] ?? 'Internal Service Error',
      error: {
        code: this.errorCode,
        name: this.errorName,
        what: this.message,
        details: [{ message: this.message, file: '', line_number: 0, method: '' }],
      },
    }
  }
}

const httpMessages: Readonly<Record<number, string>> = {
  400: 'Invalid Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  500: 'Internal Service Error',
}

/** Error: a parameter is missing or invalid. */
export function invalidRequest(message: string): ChainApiError {
  return new ChainApiError(400, 3_200_006, 'invalid_http_request', message)
}

/** Error: the account does not exist. */
export function unknownAccount(name: string): ChainApiError {
  return new ChainApiError(500, 3_060_002, 'account_query_exception', `unknown key: (0 ${name})`)
}

/** Error: the account's ABI does not have the table. */
export function unknownTable(name: string): ChainApiError {
  return new ChainApiError(
    500,
    3_060_003,
    'contract_table_query_exception',
    `Table ${name} is not specified in the ABI`,
  )
}
