/** Puts the kinds and webhook configurations of operators into an API server. */
import { customResourceDefinition, mutatingWebhookConfiguration, validatingWebhookConfiguration } from '../api/builtin.ts'
import { sleep, type Clock } from '../api/clock.ts'
import { ProreusError } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import type { Client } from '../client/client.ts'
import type { Operator } from '../manager/operator.ts'
import { crdOf } from './crd.ts'
import type { WebhookTarget } from './webhook-configuration.ts'
import { webhookConfigurations } from './webhook-configuration.ts'

/** Who owns the installed fields; not the manager of the running process, which owns `caBundle`. */
const fieldManager = 'proreus-install'
/** A new CRD is served within moments; a name that is taken never is. */
const establishedDeadlineMs = 10_000
const pollMs = 20

/** Applies the CRDs and waits until the API server serves them. */
export async function installKinds(client: Client, operators: readonly Operator[], clock: Clock, signal?: AbortSignal): Promise<void> {
  const crds = operators.flatMap((operator) => operator.kinds).map(crdOf)
  for (const crd of crds) await client.apply(customResourceDefinition, crd as never, { fieldManager, signal })
  for (const crd of crds) await established(client, (crd.metadata as { name: string }).name, clock, signal)
}

async function established(client: Client, name: string, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  const deadline = clock.now() + establishedDeadlineMs
  for (;;) {
    const crd = await client.get(customResourceDefinition, { name }, { signal })
    const conditions = crd.status?.conditions ?? []
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
    if (clock.now() > deadline) {
      const why = conditions.find(({ status }) => status === 'False')?.message ?? 'it was not established in time'
      throw new ProreusError('PRO_API', `The API server does not serve the CRD ${name}: ${why}.`)
    }
    await sleep(clock, pollMs, signal)
  }
}

/** Applies the webhook configurations; the running process then fills in `caBundle`. */
export async function installWebhooks(client: Client, operators: readonly Operator[], target: WebhookTarget, signal?: AbortSignal): Promise<void> {
  for (const configuration of webhookConfigurations(operators, target)) {
    const type = configuration.kind === 'MutatingWebhookConfiguration' ? mutatingWebhookConfiguration : validatingWebhookConfiguration
    await client.apply(type, configuration as JsonObject as never, { fieldManager, signal })
  }
}
