import { fillerCommand } from '../../core/errors/index.ts'
import type { RunMode } from '../../core/errors/index.ts'

/**
 * Shell commands that show more about a finding of `doctor`. Each entry has the beginning of the finding's subject,
 * the command for containers, and the command for services that run as processes.
 */
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

/** Shell command that shows more about a finding with this subject; undefined if there is no such command. */
export function commandFor(subject: string, mode: RunMode): string | undefined {
  const [, inContainers, asProcesses] = commands.find(([begin]) => subject.startsWith(begin)) ?? []
  if (mode === 'standalone') return undefined
  return mode === 'appliance' ? inContainers : asProcesses
}
