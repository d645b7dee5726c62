declare module 'socket.io-client-2' {
  interface Client {
    on(event: string, listener: (...args: unknown[]) => void): unknown
    emit(event: string, ...args: unknown[]): unknown
    close(): unknown
    readonly connected: boolean
  }
  const connect: (url: string, options: Readonly<Record<string, unknown>>) => Client
  export = connect
}

declare module 'socket.io-client-3' {
  interface Client {
    on(event: string, listener: (...args: unknown[]) => void): unknown
    emit(event: string, ...args: unknown[]): unknown
    close(): unknown
    readonly connected: boolean
  }
  export const io: (url: string, options: Readonly<Record<string, unknown>>) => Client
}
