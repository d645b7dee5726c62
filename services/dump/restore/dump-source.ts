/** Access to the files of a dump, in a folder or on a server. */
export interface DumpSource {
  /** Folder or URL of the dump for messages, without credentials. */
  readonly shown: string
  /**
   * Reads a whole file.
   *
   * @param maxBytes maximum size.
   * @returns undefined if there is no such file.
   * @throws FatalError `DUMP_DAMAGED` for a larger file; RetryableError `DUMP_UNREACHABLE`.
   */
  read(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined>
}
