/**
 * Stores the CA in a Secret. The Secret is the source of truth for all replicas. Each replica issues its own serving certificate with this
 * CA, and keeps the certificate and its private key in memory.
 */
import { secret as secretType } from '../api/builtin.ts'
import type { Secret } from '../api/builtin.ts'
import type { Clock } from '../runtime/clock.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { ObjectInput } from '../api/object.ts'
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AuthorityState, StoredAuthority } from './authority.ts'
import { bundleOf, decideAuthority, isRenewalDue, leafProblem, replaceAuthority } from './authority.ts'
import type { NamedTexts } from './authority-data.ts'
import { readAuthority, writeAuthority } from './authority-data.ts'
import type { KeyPair } from './issue.ts'
import { issueAuthority, issueLeaf } from './issue.ts'
import type { RefreshingCertificateSource, ServingCertificate } from './serving-certificate.ts'
import { refreshingSource, servingCertificate } from './serving-certificate.ts'

export interface SecretCertificatesOptions {
  readonly client: Pick<Client, 'get' | 'create' | 'update'>
  readonly namespace: string
  readonly secretName: string
  /** DNS names of the serving certificate. */
  readonly names: readonly string[]
  /** IP addresses of the serving certificate. */
  readonly ips: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  /**
   * Aborts the requests that `openSecretCertificates` sends before it resolves. This signal does not affect the certificate source with
   * which `openSecretCertificates` resolves: the methods `start` and `refresh` of the source have their own signals.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads the CA from the Secret, and issues a serving certificate with this CA. If the Secret is missing or empty, a new CA is issued and
 * stored in the Secret.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when the Secret may not be read or written.
 */
export async function openSecretCertificates(options: SecretCertificatesOptions): Promise<RefreshingCertificateSource> {
  const { clock, logger } = options
  let state = await synchronize(options, undefined, options.signal)
  let leaf: KeyPair | undefined

  async function serve(current: ServingCertificate | undefined): Promise<ServingCertificate> {
    const now = clock.now()
    if (leaf === undefined || leafProblem(leaf, state, options, now) !== undefined || isRenewalDue(leaf, now)) {
      leaf = await issueLeaf(state.current, { names: options.names, ips: options.ips, now })
    }
    return servingCertificate({ ...leaf, caBundle: bundleOf(state, now) }, current)
  }

  async function check(current: ServingCertificate, signal?: AbortSignal): Promise<ServingCertificate> {
    let failure: unknown
    try {
      state = await synchronize(options, state, signal)
    } catch (error) {
      failure = error
    }
    // If the synchronization has failed, e.g. because the API server is unreachable, `state` still contains the last known CA.
    const next = await serve(current)
    if (failure === undefined) return next
    if (next === current) throw failure as Error
    logger.warn(`issued a serving certificate, although the Secret cannot be read: ${messageOf(failure)}`)
    return next
  }

  return refreshingSource(await serve(undefined), check, options)
}

/**
 * Maximum number of attempts to write the Secret. Normally, a conflict means that another replica has written the Secret. If all attempts
 * end with a conflict, there must be another cause, and the error is thrown.
 */
const maxAttempts = 10

/**
 * Reads the CA from the Secret, and creates or replaces the CA when necessary. `known` is the last state that this process has read or
 * written.
 */
async function synchronize(
  options: SecretCertificatesOptions,
  known: AuthorityState | undefined,
  signal: AbortSignal | undefined,
): Promise<AuthorityState> {
  const key = { namespace: options.namespace, name: options.secretName }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await read(options, signal)
      const now = options.clock.now()
      const stored = found && readAuthority(textsOf(found))
      const decision = decideAuthority(stored, now)
      if (decision.action === 'keep') return decision.state
      const { state, log } = await successor(options, stored, known, decision, now)
      await write(options, found, writeAuthority(state, now), signal)
      log()
      return state
    } catch (error) {
      if (isForbidden(error)) {
        throw new ProreusError(
          'PRO_PERMISSION',
          `The Secret ${key.namespace}/${key.name} may not be used: ${messageOf(error)}. Grant get, create and update for it, with the Role that "proreus generate" writes to config/rbac/webhook_ca_role.yaml.`,
          { cause: error },
        )
      }
      // After a conflict or AlreadyExists, the next attempt uses the state that another replica has written. Other errors are thrown.
      if ((!isConflict(error) && !isAlreadyExists(error)) || attempt === maxAttempts) throw error
    }
  }
}

interface Successor {
  readonly state: AuthorityState
  /** Called when `state` has been written to the Secret. */
  readonly log: () => void
}

/** Returns the state that replaces a missing, damaged, expired or expiring CA, and a function that logs the replacement. */
async function successor(
  { namespace, secretName, logger }: SecretCertificatesOptions,
  stored: StoredAuthority | undefined,
  known: AuthorityState | undefined,
  decision: Exclude<ReturnType<typeof decideAuthority>, { action: 'keep' }>,
  now: number,
): Promise<Successor> {
  const where = `the Secret ${namespace}/${secretName}`
  const reason = decision.action === 'create' ? 'it was gone' : decision.reason
  // Clients already trust the CA `known`, and do not trust a new CA yet. Therefore `known` is restored if it is still usable.
  if (known !== undefined && (decision.action === 'create' || decision.urgent)) {
    const kept = decideAuthority(known, now)
    if (kept.action === 'keep')
      return { state: kept.state, log: () => logger.warn(`restored the certificate authority in ${where}: ${reason}`) }
  }
  const state = replaceAuthority([stored, known], await issueAuthority(now), now)
  const log =
    decision.action === 'create'
      ? () => logger.info(`made a certificate authority in ${where}`)
      : () => logger.warn(`replaced the certificate authority in ${where}: ${reason}`)
  return { state, log }
}

async function read(
  { client, namespace, secretName }: SecretCertificatesOptions,
  signal: AbortSignal | undefined,
): Promise<Secret | undefined> {
  try {
    return await client.get(secretType, { namespace, name: secretName }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function write(
  { client, namespace, secretName }: SecretCertificatesOptions,
  found: Secret | undefined,
  texts: NamedTexts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const data: Record<string, string> = { ...found?.data } // The entries that other clients have added are preserved.
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined) delete data[name]
    else data[name] = Buffer.from(text).toString('base64')
  }
  if (found !== undefined) {
    // The update contains the resourceVersion of `found`. If the Secret has changed since it was read, the API server rejects the update.
    await client.update(secretType, { ...found, data }, { signal })
    return
  }
  const fresh: ObjectInput<Secret> = {
    metadata: { namespace, name: secretName, labels: { 'app.kubernetes.io/managed-by': 'proreus' } },
    type: 'Opaque',
    data,
  }
  await client.create(secretType, fresh, { signal })
}

function textsOf({ data }: DeepReadonly<Secret>): Record<string, string> {
  return Object.fromEntries(Object.entries(data ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]))
}
