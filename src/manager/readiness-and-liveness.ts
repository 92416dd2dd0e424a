/** The checks of `/readyz` and `/healthz`. */
import { messageOf } from '../api/errors.ts'
import type { BackgroundTask } from './background.ts'
import type { Check } from './health-handler.ts'
import type { Running } from './running-parts.ts'

/**
 * Returns the checks of `/readyz`. A failed check of a cache or a controller does not make `/readyz` fail. Otherwise, a process with a
 * conversion webhook might never become ready:
 *
 * - A cache syncs only after its list request has succeeded.
 * - To respond to the list request, the API server may need the conversion webhook.
 * - The API server reaches the conversion webhook only while the process is ready.
 */
export function readinessChecks(running: Running, hasWebhooks: boolean): readonly Check[] {
  const webhook = running.webhookCheck ?? { name: 'webhook', problem: () => 'the webhook server does not listen yet' }
  return [
    { name: 'shutdown', problem: () => (running.draining ? 'the process is ending' : undefined) },
    ...(hasWebhooks ? [webhook] : []),
    ...(running.cache?.status() ?? []).map(({ type, view, synced, lastError }): Check => {
      const problem = lastError ?? (synced ? undefined : 'not synced yet')
      return { name: `cache/${type}${view === undefined ? '' : ` (${view})`}`, decides: false, problem: () => problem }
    }),
    ...[...running.controllers].map(([name, task]): Check => ({
      name: `controller/${name}`,
      decides: false,
      problem: () => problemOf(task),
    })),
    ...running.operatorChecks.readyz,
  ]
}

/**
 * Returns the checks of `/healthz`: the checks of the operators, and one check for each background task. When a task has failed, its check
 * fails, because only a restart of the process starts the task again. During the shutdown, all checks succeed.
 */
export function livenessChecks(running: Running): readonly Check[] {
  const { cache, certificates, injection, electionTask, controllers, runnables } = running
  const tasks: readonly (readonly [name: string, task: BackgroundTask | undefined])[] = [
    ['cache', cache?.task],
    ['certificates', certificates?.task],
    ['ca-bundle', injection],
    ['leader-election', electionTask],
    ['metrics-certificate', running.monitoring?.certificateTask],
    ...[...controllers].map(([name, task]) => [`controller/${name}`, task] as const),
    ...[...runnables].map(([name, task]) => [`runnable/${name}`, task] as const),
  ]
  const unlessDraining = (check: Check): Check => ({ ...check, problem: () => (running.draining ? undefined : check.problem()) })
  return [
    ...tasks.flatMap(([name, task]) => (task === undefined ? [] : [{ name, problem: () => problemOf(task) }])),
    ...running.operatorChecks.healthz,
  ].map(unlessDraining)
}

function problemOf({ state }: BackgroundTask): string | undefined {
  if (state === 'running') return undefined
  return state === 'ended' ? 'has ended' : `has failed: ${messageOf(state.failed)}`
}
