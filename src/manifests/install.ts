/** Installs the CRDs and webhook configurations of operators. */
import { customResourceDefinition, mutatingWebhookConfiguration, validatingWebhookConfiguration } from '../api/builtin.ts'
import type { CustomResourceDefinition } from '../api/builtin.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import { ProreusError } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import { hasFields } from '../api/has-fields.ts'
import { ApiError, isConflict, isForbidden, isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { InstallationNames } from '../manager/installation-names.ts'
import { installationName, installationOf, isInstaller, labelsOf, namesOf } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import type { RunOptions } from '../manager/run-options.ts'
import { serviceOf } from '../manager/run-options.ts'
import { convertedDefinitions } from '../manager/operator.ts'
import { checkSharedKinds, kindsOf } from '../manager/shared-kinds.ts'
import { crdOf, webhookConversion } from './crd.ts'
import type { WebhookTarget } from './webhook-configuration.ts'
import { webhookConfigurations } from './webhook-configuration.ts'

export interface InstallOptions {
  /** The name of the installation. Default: the name of the only operator. If there are several operators, the name is required. */
  readonly name?: string | undefined
  /**
   * If true, this installation takes over parts of a CRD from another installation. Default false.
   *
   * - Fields that the other installation has defined differently: if true, this installation becomes the owner of the fields. If false,
   *   `PRO_CONFIG_INVALID` reports the fields.
   * - The conversion webhook that the other installation has set: if true, the conversion webhook is replaced or removed. If false, the
   *   conversion webhook remains.
   */
  readonly forceConflicts?: boolean | undefined
  /**
   * The advice in the error message about a CRD that another installation has defined differently. Default: the advice to use the flag
   * `--force-conflicts`.
   */
  readonly takeOverAdvice?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Time limit in milliseconds until a new CRD is served. Usually a new CRD is served within a second. A CRD whose names conflict is never
 * served.
 */
const establishedDeadlineMs = 10_000
/**
 * Maximum time in milliseconds to wait until this process has injected its CA certificates as `caBundle` into a webhook configuration or a
 * CRD.
 */
const trustedDeadlineMs = 10_000
const pollMs = 20

/**
 * Applies the CRDs, and waits until the API server serves them.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when two operators define a kind differently, or when another installation has defined a kind
 *   differently and `forceConflicts` is false.
 * @throws {ProreusError} `PRO_PERMISSION` when the user may not apply CRDs.
 * @throws {ProreusError} `PRO_API` when the API server does not serve a CRD in time.
 */
export async function installKinds(
  client: Client,
  operators: readonly Operator[],
  clock: Clock,
  options: InstallOptions = {},
): Promise<void> {
  checkSharedKinds(operators)
  const { installer } = namesOf(installationName(operators, options.name))
  const crds = kindsOf(operators).map((kind) => crdOf(kind))
  for (const crd of crds) await applyDefinition(client, crd, installer, options)
  for (const crd of crds) await established(client, nameOf(crd), clock, options.signal)
}

/**
 * Applies a CRD. If other field managers own fields that have different values, `fieldManager` takes over these fields. If one of these
 * field managers is the installer of another installation, `fieldManager` takes over the fields only if `forceConflicts` is true: the
 * installations share the CRD, so a changed schema would also validate the objects of the other installation.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the installer of another installation owns a conflicting field, and `forceConflicts` is
 *   false.
 */
async function applyDefinition(
  client: Client,
  crd: JsonObject,
  fieldManager: string,
  { forceConflicts = false, takeOverAdvice = 'take the CRD over with --force-conflicts', signal }: InstallOptions,
): Promise<void> {
  const apply = (force: boolean): Promise<unknown> =>
    allowed(client.apply(customResourceDefinition, crd as never, { fieldManager, force, signal }))
  try {
    await apply(forceConflicts)
  } catch (error) {
    if (!isConflict(error)) throw error
    const installation = installationOf(fieldManager)
    const conflicts = conflictsOf(error).filter(({ manager }) => isInstaller(manager) && installationOf(manager) !== installation)
    if (conflicts.length === 0) return void (await apply(true))
    throw definedByOthers(nameOf(crd), conflicts, { takeOverAdvice, cause: error })
  }
}

interface Conflict {
  readonly manager: string
  readonly field: string
}

/**
 * Returns the field managers and fields of the conflicts that a server-side apply request reports (k8s.io/apimachinery
 * `pkg/util/managedfields/internal`: `NewConflictError`).
 */
function conflictsOf(error: unknown): readonly Conflict[] {
  const causes = error instanceof ApiError ? error.causes : []
  return causes.flatMap(({ message = '', field = '' }) => {
    const manager = /^conflict with "([^"]+)"/.exec(message)?.[1]
    return manager === undefined ? [] : [{ manager, field }]
  })
}

function definedByOthers(
  crd: string,
  conflicts: readonly Conflict[],
  { takeOverAdvice, cause }: { readonly takeOverAdvice: string; readonly cause: unknown },
): ProreusError {
  const fields = [...new Set(conflicts.map(({ field }) => field))].join(', ')
  const others = [...new Set(conflicts.map(({ manager }) => `"${installationOf(manager)}"`))].sort().join(', ')
  const advice = `install the same version of the operator everywhere, move your kind to another group, or ${takeOverAdvice}`
  const problem = `The CRD ${crd} is installed with another definition by ${others} (they differ in ${fields})`
  return new ProreusError('PRO_CONFIG_INVALID', `${problem}: ${advice}.`, { cause })
}

function nameOf({ metadata }: JsonObject): string {
  return (metadata as { name: string }).name
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

/**
 * Applies the webhook configurations, and adds the conversion webhooks to the CRDs. Afterwards, the process that serves the webhooks
 * injects the `caBundle`. If the operators have only conversions, the existing webhook configurations of the installation are removed.
 */
export async function installWebhooks(
  client: Client,
  operators: readonly Operator[],
  target: WebhookTarget,
  options: InstallOptions = {},
): Promise<void> {
  const names = namesOf(installationName(operators, options.name))
  await installConversions(client, operators, target, names, options)
  const configurations = webhookConfigurations(operators, target, names)
  if (configurations.length === 0) await removeConfigurations(client, names, options)
  for (const configuration of configurations) {
    const type = configuration.kind === 'MutatingWebhookConfiguration' ? mutatingWebhookConfiguration : validatingWebhookConfiguration
    await allowed(client.apply(type, configuration as never, { fieldManager: names.installer, signal: options.signal }))
  }
}

/**
 * Removes the webhook configurations of an installation, and the conversion webhooks of its CRDs. This function is for operators without
 * webhooks and conversions. An earlier version of the operators may have installed webhooks that no process serves now, and the API server
 * would still call them.
 */
export async function removeWebhooks(client: Client, operators: readonly Operator[], options: InstallOptions = {}): Promise<void> {
  const names = namesOf(installationName(operators, options.name))
  await removeConfigurations(client, names, options)
  for (const kind of kindsOf(operators)) {
    if (kind.versions.length > 1) await removeConversion(client, groupResourceOf(kind), names.conversionInstaller, options)
  }
}

/**
 * Removes the webhook configurations that have the name and the labels of the installation. A configuration that the user may not read is
 * ignored. Users without permissions for webhook configurations can therefore install operators without webhooks.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when the user may read a webhook configuration of the installation, but may not delete it.
 */
async function removeConfigurations(client: Client, names: InstallationNames, { signal }: InstallOptions): Promise<void> {
  for (const [type, name] of [
    [mutatingWebhookConfiguration, names.mutatingConfiguration],
    [validatingWebhookConfiguration, names.validatingConfiguration],
  ] as const) {
    const ofName = client.get(type, { name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error) && !isForbidden(error)) throw error
    })
    const metadata = (await ofName)?.metadata
    if (metadata === undefined || !hasFields(metadata.labels, labelsOf(names.installation))) continue
    await client.delete(type, { name }, { preconditions: { uid: metadata.uid }, signal }).catch((cause: unknown) => {
      if (isNotFound(cause)) return
      if (!isForbidden(cause)) throw cause
      const problem = `The ${type.kind} ${name} calls webhooks that the operator no longer has, and this user may not delete it`
      throw new ProreusError('PRO_PERMISSION', `${problem}: ${cause.message}: have an administrator delete it.`, { cause })
    })
  }
}

/**
 * Returns a function for the option `onServing` of `run`. The function installs the CRDs. The webhooks decide what else happens:
 *
 * - If the operators have webhooks, their webhook configurations are installed.
 * - If the operators have no webhooks, the existing webhook configurations of the installation are removed.
 * - With `enableWebhooks: false`, the webhook configurations do not change, because another process of the installation may serve the
 *   webhooks.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` immediately, not in the returned function, when the address of the webhooks is unknown.
 *   Outside a cluster, `webhook.url` is required, or `webhook.service` with the name of a Service that forwards to this process.
 */
export function installOnServing(
  operators: readonly Operator[],
  running: RunOptions,
  { forceConflicts }: Pick<InstallOptions, 'forceConflicts'> = {},
): NonNullable<RunOptions['onServing']> {
  const name = installationName(operators, running.name)
  const { enableWebhooks = true } = running
  const hasWebhooks = operators.some(({ webhooks, conversions }) => webhooks.length + conversions.length > 0)
  const target = enableWebhooks && hasWebhooks ? targetOf(namesOf(name), running) : undefined
  return async (_endpoints, client) => {
    const options = { name, forceConflicts, signal: running.signal }
    await installKinds(client, operators, running.clock ?? systemClock, options)
    if (target !== undefined) await installWebhooks(client, operators, target, options)
    else if (enableWebhooks) await removeWebhooks(client, operators, options)
  }
}

function targetOf(names: InstallationNames, running: RunOptions): WebhookTarget {
  const { connection, webhook } = running
  if (webhook?.url !== undefined) return { url: webhook.url }
  if (connection.inCluster === true || webhook?.service !== undefined) return { service: serviceOf(names, running) }
  const advice = `--webhook-url https://HOST:PORT with an address at which the API server reaches this machine, --webhook-service with a Service that leads here, or --enable-webhooks false`
  throw new ProreusError(
    'PRO_CONFIG_INVALID',
    `--install outside a cluster needs the address at which the API server reaches the webhooks: add ${advice}.`,
  )
}

/**
 * Sets the conversion webhook in the CRD of each kind that needs conversions. For any other kind with several versions, an existing
 * conversion webhook is removed from the CRD.
 */
async function installConversions(
  client: Client,
  operators: readonly Operator[],
  target: WebhookTarget,
  { conversionInstaller: fieldManager }: InstallationNames,
  options: InstallOptions,
): Promise<void> {
  const converted = new Set(convertedDefinitions(operators))
  for (const kind of kindsOf(operators)) {
    if (kind.versions.length === 1) continue
    const name = groupResourceOf(kind)
    if (converted.has(name)) await installConversion(client, name, target, fieldManager, options)
    else await removeConversion(client, name, fieldManager, options)
  }
}

/**
 * Removes the conversion webhook of a CRD, if there is one. If another installation has set the conversion webhook, it is removed only with
 * `forceConflicts`.
 */
async function removeConversion(client: Client, name: string, fieldManager: string, options: InstallOptions): Promise<void> {
  const { forceConflicts = false, signal } = options
  const definition = await client.get(customResourceDefinition, { name }, { signal })
  if (definition.spec.conversion?.strategy !== 'Webhook') return
  if (!forceConflicts && isConvertedByOthers(definition, installationOf(fieldManager))) return
  // It would not be sufficient to apply the CRD without `spec.conversion`. Another field manager owns the `caBundle`, so the `caBundle`
  // would remain.
  const none = { spec: { conversion: { strategy: 'None', webhook: null } } }
  await allowed(client.patch(customResourceDefinition, { name }, none, { fieldManager, signal }))
}

/**
 * Sets the conversion webhook of a CRD. A CRD has only one conversion webhook, which converts the objects of all installations. Therefore,
 * if another installation has set the conversion webhook, `installConversion` replaces this webhook only with `forceConflicts`.
 */
async function installConversion(
  client: Client,
  name: string,
  target: WebhookTarget,
  fieldManager: string,
  options: InstallOptions,
): Promise<void> {
  const definition = await client.get(customResourceDefinition, { name }, { signal: options.signal })
  if (options.forceConflicts !== true && isConvertedByOthers(definition, installationOf(fieldManager))) return
  const conversion = webhookConversion(target)
  const other = 'url' in target ? 'service' : 'url'
  if (definition.spec.conversion?.webhook?.clientConfig?.[other] !== undefined) {
    // A `clientConfig` must not have both `url` and `service`. Server-side apply does not remove a field that another field manager owns.
    // Therefore, a merge patch first removes the field that the new `clientConfig` does not have.
    const { webhook } = conversion
    const taken = {
      spec: { conversion: { ...conversion, webhook: { ...webhook, clientConfig: { ...webhook.clientConfig, [other]: null } } } },
    }
    await allowed(client.patch(customResourceDefinition, { name }, taken, { fieldManager, signal: options.signal }))
  }
  await applyDefinition(client, { metadata: { name }, spec: { conversion } }, fieldManager, { ...options, forceConflicts: true })
}

/**
 * Returns true when another installation has set the conversion webhook, i.e. when the field manager of another installation (see
 * `isInstaller`) owns `spec.conversion`.
 */
function isConvertedByOthers({ metadata, spec: { conversion } }: CustomResourceDefinition, installation: string): boolean {
  if (conversion?.strategy !== 'Webhook') return false
  return (metadata.managedFields ?? []).some(({ manager = '', fieldsV1 }) => {
    const spec = (fieldsV1 as JsonObject | undefined)?.['f:spec']
    return isInstaller(manager) && installationOf(manager) !== installation && isObject(spec) && 'f:conversion' in spec
  })
}

/**
 * Waits for a write request of the installation.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when the user lacks the permission. Installing operators requires more permissions than running
 * operators. The message therefore names an alternative: an administrator applies the manifests.
 */
async function allowed(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (cause) {
    if (!isForbidden(cause)) throw cause
    const problem = `This user may not install: ${cause.message}: have an administrator apply config/crd and config/webhook, and go on without installing.`
    throw new ProreusError('PRO_PERMISSION', problem, { cause })
  }
}

/**
 * Resolves when the `caBundle` of every admission and conversion webhook of the operators contains the certificates of `trusted`. The API
 * server can then verify the serving certificate of this process. An installed `caBundle` may contain only the certificates of an earlier
 * process.
 *
 * @param trusted the CA certificates of this process, as PEM
 * @throws {ProreusError} `PRO_CERTIFICATE` when a certificate is still missing after the time limit.
 */
export async function whenTrusted(
  client: Client,
  operators: readonly Operator[],
  trusted: string,
  clock: Clock,
  { name: installation, signal }: Pick<InstallOptions, 'name' | 'signal'> = {},
): Promise<void> {
  for (const { type, name } of configurationsOf(operators, namesOf(installationName(operators, installation)))) {
    const done = await within(trustedDeadlineMs, clock, signal, async () => {
      const { webhooks = [] } = await client.get(type, { name }, { signal })
      return webhooks.every(({ clientConfig }) => hasCertificates(clientConfig.caBundle, trusted))
    })
    if (!done) throw noCaBundle(type.kind, name)
  }
  for (const name of convertedDefinitions(operators)) {
    const done = await within(trustedDeadlineMs, clock, signal, async () => {
      const { spec } = await client.get(customResourceDefinition, { name }, { signal })
      return hasCertificates(spec.conversion?.webhook?.clientConfig?.caBundle, trusted)
    })
    if (!done) throw noCaBundle('CustomResourceDefinition', name)
  }
}

const pemCertificates = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs

function hasCertificates(caBundle: string | undefined, wanted: string): boolean {
  const found = Buffer.from(caBundle ?? '', 'base64').toString()
  return (wanted.match(pemCertificates) ?? []).every((certificate) => found.includes(certificate))
}

function noCaBundle(kind: string, name: string): ProreusError {
  return new ProreusError(
    'PRO_CERTIFICATE',
    `The ${kind} ${name} did not get the CA certificates of this process as caBundle in time; see the log for the reason.`,
  )
}

function configurationsOf(operators: readonly Operator[], names: InstallationNames) {
  if (operators.every(({ webhooks }) => webhooks.length === 0)) return []
  return [
    { type: mutatingWebhookConfiguration, name: names.mutatingConfiguration },
    { type: validatingWebhookConfiguration, name: names.validatingConfiguration },
  ] as const
}

/** Polls `ask` until it returns true, then resolves to true. Resolves to false if `ask` has not returned true after `ms` milliseconds. */
async function within(ms: number, clock: Clock, signal: AbortSignal | undefined, ask: () => Promise<boolean>): Promise<boolean> {
  const deadline = clock.monotonicNow() + ms
  while (!(await ask())) {
    if (clock.monotonicNow() > deadline) return false
    await sleep(clock, pollMs, signal)
  }
  return true
}
