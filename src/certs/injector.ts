/**
 * Maintains the `caBundle` of webhook configurations, and of CustomResourceDefinitions with a conversion webhook, so that the API server
 * trusts the serving certificate of this process. Adds missing CA certificates, and removes expired CA certificates. Other unexpired CA
 * certificates are preserved.
 */
import { customResourceDefinition, mutatingWebhookConfiguration, validatingWebhookConfiguration } from '../api/builtin.ts'
import type { CustomResourceDefinition, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../api/builtin.ts'
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import { messageOf } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { isConflict, isForbidden, isInvalid, isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import type { JsonPatchOperation } from '../client/write-types.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Certificate } from './certificate.ts'
import { bundleText, readBundle } from './certificate.ts'
import type { CertificateSource } from './serving-certificate.ts'

export interface InjectorOptions {
  readonly client: Pick<Client, 'get' | 'patch'>
  /** Names of MutatingWebhookConfigurations. */
  readonly mutating: readonly string[]
  /** Names of ValidatingWebhookConfigurations. */
  readonly validating: readonly string[]
  /** Names of CustomResourceDefinitions. Default: an empty list. */
  readonly definitions?: readonly string[]
  readonly source: CertificateSource
  readonly logger: Logger
  readonly clock: Clock
}

type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
type Trusting = WebhookConfiguration | CustomResourceDefinition
type TrustingType =
  ResourceType<MutatingWebhookConfiguration> | ResourceType<ValidatingWebhookConfiguration> | ResourceType<CustomResourceDefinition>

/**
 * The interval in milliseconds at which the `caBundle` of all objects is checked. The interval is short, because `kubectl apply` can
 * overwrite the `caBundle` at any time.
 */
const checkEveryMs = 10_000
const maxAttempts = 5
/**
 * cert-manager's cainjector writes the `caBundle` of an object with one of these annotations. This process then does not write the
 * `caBundle`, because two writers would overwrite each other again and again.
 */
const certManagerAnnotations = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
]

/**
 * Checks and patches the `caBundle` of all objects until the signal aborts. A check runs at the start, every `checkEveryMs`, and after each
 * change of the certificate. If a check fails, the error is logged, and the next check tries again. The promise never rejects.
 */
export async function injectCaBundle(options: InjectorOptions, signal: AbortSignal): Promise<void> {
  const { source, clock, logger } = options
  const targets = [
    ...options.mutating.map((name) => new Target(mutatingWebhookConfiguration, name, options)),
    ...options.validating.map((name) => new Target(validatingWebhookConfiguration, name, options)),
    ...(options.definitions ?? []).map((name) => new Target(customResourceDefinition, name, options)),
  ]
  let wake = new AbortController()
  const unsubscribe = source.onChange(() => wake.abort())
  try {
    while (!signal.aborted) {
      wake = new AbortController()
      await Promise.all(targets.map((target) => target.inject(signal)))
      // The pause ends early when the certificate changes, or when `signal` aborts.
      await sleep(clock, checkEveryMs, AbortSignal.any([signal, wake.signal])).catch(() => undefined)
    }
  } finally {
    unsubscribe()
  }
  logger.debug('the caBundle of the webhook configurations is no longer looked after')
}

/** A webhook configuration or CustomResourceDefinition, and the last message that was logged about it. */
class Target {
  readonly #type: TrustingType
  readonly #name: string
  readonly #options: InjectorOptions
  #said = ''

  constructor(type: TrustingType, name: string, options: InjectorOptions) {
    this.#type = type
    this.#name = name
    this.#options = options
  }

  async inject(signal: AbortSignal): Promise<void> {
    const title = `${this.#type.kind} ${this.#name}`
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#injectOnce(title, signal)
        } catch (error) {
          // 409: the object has changed since it was read. 422: the patch can no longer be applied. In both cases, the next attempt reads
          // the object again.
          if ((!isConflict(error) && !isInvalid(error)) || attempt === maxAttempts) throw error
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (isNotFound(error)) this.#say('info', `waiting for ${title}: it does not exist yet`)
      else if (isForbidden(error))
        this.#say(
          'error',
          `${title} may not be read or patched, so the API server cannot trust this process: ${messageOf(error)}. Grant get and patch for it.`,
        )
      else this.#say('warn', `the caBundle of ${title} could not be written: ${messageOf(error)}`)
    }
  }

  async #injectOnce(title: string, signal: AbortSignal): Promise<void> {
    const { client, source, clock, logger } = this.#options
    const found: Trusting = await client.get(this.#type as ResourceType<Trusting>, { name: this.#name }, { signal })
    const owner = certManagerAnnotations.find((annotation) => found.metadata.annotations?.[annotation] !== undefined)
    if (owner !== undefined) {
      this.#say('info', `the caBundle of ${title} is left to cert-manager (annotation ${owner})`)
      return
    }
    if ('spec' in found && found.spec.conversion?.strategy !== 'Webhook') {
      this.#say('warn', `${title} has no conversion webhook, so that its versions lose each other's fields: apply the generated one`)
      return
    }
    const patch =
      'spec' in found
        ? patchForDefinition(found, source.current().caBundle, clock.now())
        : patchFor(found, source.current().caBundle, clock.now())
    if (patch !== undefined) {
      await client.patch(this.#type as ResourceType<Trusting>, { name: this.#name }, patch, {
        type: 'json',
        fieldManager: 'proreus-cabundle',
        signal,
      })
      logger.info(`wrote the caBundle of ${title}`)
    }
    this.#said = ''
  }

  /** Logs a message if it differs from the previous message about this object. */
  #say(level: 'info' | 'warn' | 'error', text: string): void {
    if (text === this.#said) return
    this.#said = text
    this.#options.logger[level](text)
  }
}

/**
 * Returns the JSON patch that merges `bundle` into the `caBundle` of every webhook of a configuration (see `mergeBundle`); undefined when
 * nothing has to change. The patch changes only `caBundle`, and fails if the configuration has changed since it was read.
 */
export function patchFor(configuration: WebhookConfiguration, bundle: string, now: number): JsonPatchOperation[] | undefined {
  const operations = (configuration.webhooks ?? []).flatMap(({ name, clientConfig }, index): JsonPatchOperation[] => {
    const before = Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()
    const after = mergeBundle(before, bundle, now)
    if (after === undefined) return []
    return [
      { op: 'test', path: `/webhooks/${index}/name`, value: name },
      { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: Buffer.from(after).toString('base64') },
    ]
  })
  if (operations.length === 0) return undefined
  return [{ op: 'test', path: '/metadata/resourceVersion', value: configuration.metadata.resourceVersion }, ...operations]
}

/**
 * Returns the JSON patch that merges `bundle` into the `caBundle` of a CustomResourceDefinition's conversion webhook; undefined when
 * nothing has to change. The patch fails if the CustomResourceDefinition has changed since it was read.
 */
export function patchForDefinition(definition: CustomResourceDefinition, bundle: string, now: number): JsonPatchOperation[] | undefined {
  const clientConfig = definition.spec.conversion?.webhook?.clientConfig
  if (clientConfig === undefined) return undefined
  const after = mergeBundle(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString(), bundle, now)
  if (after === undefined) return undefined
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: definition.metadata.resourceVersion },
    { op: 'add', path: '/spec/conversion/webhook/clientConfig/caBundle', value: Buffer.from(after).toString('base64') },
  ]
}

/**
 * Merges two PEM strings. The result contains the unexpired certificates of `existing`, followed by the certificates of `ours` that are not
 * among them. Returns undefined when nothing has to change. Unexpired certificates are kept, because another replica may have just added
 * them.
 */
export function mergeBundle(existing: string, ours: string, now: number): string | undefined {
  const before = readBundle(existing)
  const kept = before.filter(({ notAfter }) => now < notAfter)
  const known = new Set(kept.map(({ fingerprint }) => fingerprint))
  const added = readBundle(ours).filter(({ fingerprint }) => !known.has(fingerprint))
  if (added.length === 0 && kept.length === countBlocks(existing)) return undefined
  return bundleText([...kept, ...added] satisfies Certificate[])
}

/**
 * Counts the certificates in a PEM string, including the invalid certificates and duplicates that `readBundle` leaves out. If this number
 * differs from the number of certificates that `mergeBundle` keeps, the string contains certificates that have to be removed.
 */
function countBlocks(text: string): number {
  return text.split('-----BEGIN CERTIFICATE-----').length - 1
}
