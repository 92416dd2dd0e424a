/** The running parts of the process: filled in during the start, read by the probes, stopped by the drain. */
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { WebhookServer } from '../webhook/server.ts'
import type { BackgroundTask } from './background.ts'
import type { Check } from './health.ts'
import type { OperatorIdentity } from './identity.ts'
import type { Operator } from './operator.ts'
import type { Probes } from './probes.ts'
import { messageOf } from '../api/errors.ts'

export interface Running {
  /** The client of the process, with the name of the installation. */
  readonly client: Client
  readonly identities: ReadonlyMap<Operator, OperatorIdentity>
  /** True when the shutdown has begun. */
  draining: boolean
  probes?: Probes
  certificates?: { readonly source: CertificateSource; readonly task: BackgroundTask }
  webhookServer?: WebhookServer
  /** The readiness check of the webhook server, once it listens. */
  webhookCheck?: Check
  injection?: BackgroundTask | undefined
  cache?: { readonly task: BackgroundTask; status(): readonly { type: string; synced: boolean; lastError?: string }[] }
  readonly controllers: Map<string, BackgroundTask>
}

/**
 * Returns the checks of `/readyz`. Caches and controllers are shown without effect on the status, because a conversion webhook must be
 * ready before caches can sync.
 */
export function readinessChecks(running: Running, hasWebhooks: boolean): readonly Check[] {
  const webhook = running.webhookCheck ?? { name: 'webhook', problem: () => 'the webhook server does not listen yet' }
  return [
    { name: 'shutdown', problem: () => (running.draining ? 'the process is ending' : undefined) },
    ...(hasWebhooks ? [webhook] : []),
    ...(running.cache?.status() ?? []).map(({ type, synced, lastError }): Check => {
      const problem = lastError ?? (synced ? undefined : 'not synced yet')
      return { name: `cache/${type}`, decides: false, problem: () => problem }
    }),
    ...[...running.controllers].map(([name, task]): Check => ({
      name: `controller/${name}`,
      decides: false,
      problem: () => problemOf(task),
    })),
  ]
}

/**
 * Returns the checks of `/healthz`: a controller that has failed does not reconcile until the process restarts. During the shutdown nothing
 * fails.
 */
export function livenessChecks(running: Running): readonly Check[] {
  return [...running.controllers].map(([name, task]) => ({
    name: `controller/${name}`,
    problem: () => (running.draining ? undefined : problemOf(task)),
  }))
}

function problemOf({ state }: BackgroundTask): string | undefined {
  if (state === 'running') return undefined
  return state === 'ended' ? 'has ended' : `has failed: ${messageOf(state.failed)}`
}
