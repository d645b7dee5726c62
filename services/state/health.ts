import type { Context } from 'koa'
import type { PositionWatch } from './chain/index.ts'

/** Routes `/ping` (the process runs) and `/healthz` (the database can be read and contains a block). */
export function healthRoutes(
  positions: PositionWatch,
): [path: string, answer: (context: Context) => Promise<void> | void][] {
  return [
    ['/ping', (context) => sendText(context, 200, 'pong\n')],
    [
      '/healthz',
      async (context) => {
        const isReady = await positions.get().then(
          () => true,
          () => false,
        )
        sendText(context, isReady ? 200 : 503, isReady ? 'ready\n' : 'not ready\n')
      },
    ],
  ]
}

function sendText(context: Context, status: number, text: string): void {
  context.status = status
  context.type = 'text/plain; charset=utf-8'
  context.body = text
}
