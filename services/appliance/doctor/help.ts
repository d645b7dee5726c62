import { fillerCommand } from '../../core/errors/index.ts'
import type { RunMode } from '../../core/errors/index.ts'

/** Commands by prefix of a finding's subject: for the containers, and for services that run as processes. */
const commands: readonly (readonly [string, string, string])[] = [
  ['certificate', 'docker compose logs --tail 30 nginx certificates', 'journalctl -u nginx -n 30'],
  ['backups', 'docker compose logs --tail 30 backups', 'journalctl -u pronghorn-backup -n 30'],
  ['comparison', fillerCommand('verify --repair'), 'pronghorn verify --repair'],
  ['key-value store', 'docker compose logs --tail 30 redis', 'redis-cli INFO'],
  [
    'chain node',
    'docker compose exec filler bash infra/probe.sh --print /health',
    'journalctl -u pronghorn-filler -n 50',
  ],
  ['database', 'docker compose logs --tail 30 postgres', 'journalctl -u postgresql -n 30'],
  ['reader', 'docker compose logs --tail 50 filler', 'journalctl -u pronghorn-filler -n 50'],
  ['disk', 'docker system df; du -sh backups', 'df -h; du -sh backups'],
]

/** The command that shows more about a problem of the subject; undefined if no command does. */
export function commandFor(subject: string, mode: RunMode): string | undefined {
  const [, inContainers, asProcesses] = commands.find(([begin]) => subject.startsWith(begin)) ?? []
  if (mode === 'standalone') return undefined
  return mode === 'appliance' ? inContainers : asProcesses
}
