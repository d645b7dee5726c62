/** Where the files of a dump come from. */
export interface DumpSource {
  /** Address for messages, without credentials. */
  readonly shown: string
  /**
   * Reads a whole file.
   *
   * @param maxBytes a longer file is given up.
   * @returns undefined if there is no such file.
   * @throws FatalError `DUMP_DAMAGED` for a longer file; RetryableError `DUMP_UNREACHABLE`.
   */
  read(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined>
}
