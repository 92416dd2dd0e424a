/** What is running: filled in while the process starts, read by the probes, taken down by the drain. */
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
  /** The process' own, under the name of the installation. */
  readonly client: Client
  readonly identities: ReadonlyMap<Operator, OperatorIdentity>
  /** The stop has begun. */
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

/** What `/readyz` looks at. Caches and controllers are shown but do not decide: a conversion webhook must be ready before caches can sync. */
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
 * What `/healthz` looks at: a controller that has ended by itself reconciles no more, and only a new process starts it again.
 * While the process ends, they all do.
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
