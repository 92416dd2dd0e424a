/** Puts the kinds and webhook configurations of operators into an API server. */
import { customResourceDefinition, mutatingWebhookConfiguration, validatingWebhookConfiguration } from '../api/builtin.ts'
import { sleep, type Clock } from '../api/clock.ts'
import { ProreusError } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import { isForbidden } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { mutatingName, validatingName } from '../manager/names.ts'
import type { Operator } from '../manager/operator.ts'
import { convertedDefinitions } from '../manager/operator.ts'
import { crdOf, webhookConversion } from './crd.ts'
import type { WebhookTarget } from './webhook-configuration.ts'
import { webhookConfigurations } from './webhook-configuration.ts'

/** Who owns the installed fields; not the manager of the running process, which owns `caBundle`. */
const fieldManager = 'proreus-install'
/**
 * Who owns `spec.conversion`, which is known only when the webhooks are served: applying the CRDs again must not take it away even for
 * a moment, in which objects would lose what their other versions do not have.
 */
const conversionManager = 'proreus-install-conversion'
/** A new CRD is served within moments; a name that is taken never is. */
const establishedDeadlineMs = 10_000
/** The running process fills in `caBundle` as soon as it sees the configuration. */
const trustedDeadlineMs = 10_000
const pollMs = 20

/** Applies the CRDs and waits until the API server serves them. */
export async function installKinds(client: Client, operators: readonly Operator[], clock: Clock, signal?: AbortSignal): Promise<void> {
  const crds = operators.flatMap((operator) => operator.kinds).map((kind) => crdOf(kind))
  for (const crd of crds) await allowed(client.apply(customResourceDefinition, crd as never, { fieldManager, signal }))
  for (const crd of crds) await established(client, (crd.metadata as { name: string }).name, clock, signal)
}

async function established(client: Client, name: string, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  let problem = 'it was not established in time'
  const done = await within(establishedDeadlineMs, clock, signal, async () => {
    const { status } = await client.get(customResourceDefinition, { name }, { signal })
    problem = status?.conditions?.find((condition) => condition.status === 'False')?.message ?? problem
    return status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') === true
  })
  if (!done) throw new ProreusError('PRO_API', `The API server does not serve the CRD ${name}: ${problem}.`)
}

/** Applies the webhook configurations and the CRDs' conversion webhooks; the running process then fills in `caBundle`. */
export async function installWebhooks(
  client: Client,
  operators: readonly Operator[],
  target: WebhookTarget,
  signal?: AbortSignal,
): Promise<void> {
  await installConversions(client, operators, target, signal)
  for (const configuration of webhookConfigurations(operators, target)) {
    const type = configuration.kind === 'MutatingWebhookConfiguration' ? mutatingWebhookConfiguration : validatingWebhookConfiguration
    await allowed(client.apply(type, configuration as JsonObject as never, { fieldManager, signal }))
  }
}

/** For each kind with several versions: who had a conversion webhook before may need none any more. */
async function installConversions(
  client: Client,
  operators: readonly Operator[],
  target: WebhookTarget,
  signal: AbortSignal | undefined,
): Promise<void> {
  const converted = new Set(convertedDefinitions(operators))
  for (const kind of operators.flatMap(({ kinds }) => kinds)) {
    if (kind.versions.length === 1) continue
    const name = groupResourceOf(kind)
    const options = { fieldManager: conversionManager, signal }
    if (converted.has(name)) {
      const crd = { metadata: { name }, spec: { conversion: webhookConversion(target) } }
      await allowed(client.apply(customResourceDefinition, crd as never, options))
      continue
    }
    // Not by applying without it: the `caBundle`, which another manager owns, would stay behind.
    const { spec } = await client.get(customResourceDefinition, { name }, { signal })
    const none = { spec: { conversion: { strategy: 'None', webhook: null } } }
    if (spec.conversion?.strategy === 'Webhook') await allowed(client.patch(customResourceDefinition, { name }, none, options))
  }
}

/** Installing needs more rights than running: who lacks them is told the way around. */
async function allowed(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (cause) {
    if (!isForbidden(cause)) throw cause
    const problem = `This user may not install: ${cause.message}: have an administrator apply config/crd and config/webhook, and go on without installing.`
    throw new ProreusError('PRO_PERMISSION', problem, { cause })
  }
}

/** Waits until every installed webhook, those for conversion too, has a `caBundle`: from then on the API server can call it. */
export async function whenTrusted(client: Client, operators: readonly Operator[], clock: Clock, signal?: AbortSignal): Promise<void> {
  for (const { type, name } of configurationsOf(operators)) {
    const done = await within(trustedDeadlineMs, clock, signal, async () => {
      const { webhooks = [] } = await client.get(type, { name }, { signal })
      return webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '')
    })
    if (!done) throw noCaBundle(type.kind, name)
  }
  for (const name of convertedDefinitions(operators)) {
    const done = await within(trustedDeadlineMs, clock, signal, async () => {
      const { spec } = await client.get(customResourceDefinition, { name }, { signal })
      return (spec.conversion?.webhook?.clientConfig?.caBundle ?? '') !== ''
    })
    if (!done) throw noCaBundle('CustomResourceDefinition', name)
  }
}

function noCaBundle(kind: string, name: string): ProreusError {
  return new ProreusError('PRO_CERTIFICATE', `The ${kind} ${name} got no caBundle in time; the log says why.`)
}

function configurationsOf(operators: readonly Operator[]) {
  if (operators.every(({ webhooks }) => webhooks.length === 0)) return []
  return [
    { type: mutatingWebhookConfiguration, name: mutatingName },
    { type: validatingWebhookConfiguration, name: validatingName },
  ] as const
}

/** Asks again and again; false when it was never so. */
async function within(ms: number, clock: Clock, signal: AbortSignal | undefined, ask: () => Promise<boolean>): Promise<boolean> {
  const deadline = clock.now() + ms
  while (!(await ask())) {
    if (clock.now() > deadline) return false
    await sleep(clock, pollMs, signal)
  }
  return true
}
