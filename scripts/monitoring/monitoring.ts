/**
 * Generates the Prometheus rules, the Grafana dashboards and `docs/alerts.md` from their descriptions. `npm run
 * monitoring:write` writes them; a test checks that they are up to date.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { packageRoot } from '../../services/core/paths/index.ts'
import { listAlerts, standardLimits } from './alerts.ts'
import { dashboards } from './dashboards.ts'
import { renderAlertsPage, renderDashboard, renderRules } from './render.ts'

/** Text of every generated file, by path in the repository. */
export async function renderMonitoring(): Promise<Map<string, string>> {
  const files = new Map([
    ['infra/monitoring/rules.yml', renderRules(standardLimits)],
    ['docs/alerts.md', renderAlertsPage(listAlerts(standardLimits))],
    ...dashboards.map(
      (each) =>
        [
          `infra/monitoring/grafana/dashboards/${each.name}.json`,
          JSON.stringify(renderDashboard(each)),
        ] as const,
    ),
  ])
  for (const [path, text] of files) {
    const filepath = join(packageRoot, path)
    files.set(path, await format(text, { ...(await resolveConfig(filepath)), filepath }))
  }
  return files
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [path, text] of await renderMonitoring()) {
    mkdirSync(dirname(join(packageRoot, path)), { recursive: true })
    writeFileSync(join(packageRoot, path), text)
  }
}
