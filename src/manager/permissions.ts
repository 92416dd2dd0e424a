/** Checks that the operators may list and watch the types that they need. The check runs before the cache and the controllers start. */
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Operator } from './operator.ts'
import { ProreusError } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { authorization } from '../api/kubernetes/authorization.ts'
import { nameIn, namespacesOf } from '../cache/view.ts'
import { isApiError, isUnauthorized } from '../client/api-error.ts'

export interface PermissionOptions {
  readonly operators: readonly Operator[]
  readonly client: Pick<Client, 'create'>
  /** The namespaces that the operators watch. If absent or empty, the operators watch all namespaces. */
  readonly namespaces?: readonly string[] | undefined
  /** The connection to the API server. `describe` names the user and the API server in the error message. */
  readonly connection: { readonly describe: string }
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

const verbs = ['list', 'watch'] as const

/** Maximum number of concurrent SelfSubjectAccessReviews. A process with many types and namespaces sends thousands of reviews. */
const maxReviews = 20

interface Need {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /** The namespaces of the list and watch requests; undefined stands for all namespaces. */
  readonly scopes: readonly (string | undefined)[]
  /**
   * The name in the requirement `metadata.name=NAME` of the view's field selector. Undefined if the type is not a view, or if the field
   * selector has no such requirement. The SelfSubjectAccessReview contains the name, because an RBAC rule with `resourceNames` may grant
   * access only to objects with this name.
   */
  readonly name: string | undefined
  /**
   * True for the primary type of a controller. If the permission for a primary type is missing, the process does not start. If the
   * permission for any other type is missing, the process starts, and the controllers that watch this type wait until the permission is
   * granted.
   */
  readonly primary: boolean
}

interface Refusal {
  readonly need: Need
  readonly verb: string
  readonly namespace: string | undefined
}

/**
 * Checks with SelfSubjectAccessReviews that the user may list and watch each type that the operators need. If a permission is missing for a
 * type that is not primary, a warning is logged. The reflector of this type retries until the permission is granted.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when the user may not list or watch a primary type.
 */
export async function checkPermissions(options: PermissionOptions): Promise<void> {
  const { connection, logger } = options
  const refusals = await findRefusals(options)
  const [vital, others] = [refusals.filter(({ need }) => need.primary), refusals.filter(({ need }) => !need.primary)]
  const advice =
    'grant it: apply config/rbac/role.yaml, which "proreus generate" writes, and bind its ClusterRole to this user; config/rbac/role_binding.yaml binds it to the ServiceAccount of the installation'
  if (vital.length > 0) {
    throw new ProreusError(
      'PRO_PERMISSION',
      `The user of ${connection.describe} may not ${describe(vital)}, which the operators cannot do without; ${advice}.`,
    )
  }
  if (others.length > 0) {
    logger.warn(
      { missing: others.map(({ need, verb }) => `${verb} ${groupResourceOf(need)}`) },
      `the user of ${connection.describe} may not ${describe(others)}; what needs it waits; ${advice}`,
    )
  }
}

async function findRefusals(options: PermissionOptions): Promise<readonly Refusal[]> {
  const questions = needsOf(options).flatMap((need) =>
    need.scopes.flatMap((namespace) => verbs.map((verb): Refusal => ({ need, verb, namespace }))),
  )
  const refusals: Refusal[] = []
  for (let at = 0; at < questions.length; at += maxReviews) {
    const some = questions.slice(at, at + maxReviews)
    const answers = await Promise.all(some.map((question) => isRefused(question, options)))
    refusals.push(...some.filter((_, index) => answers[index]))
  }
  return refusals
}

async function isRefused({ need, verb, namespace }: Refusal, { client, logger, signal }: PermissionOptions): Promise<boolean> {
  const { group, plural: resource, name } = need
  const resourceAttributes = {
    group,
    resource,
    verb,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
  try {
    const review = await client.create(authorization.selfSubjectAccessReview, { metadata: {}, spec: { resourceAttributes } }, { signal })
    return review.status?.allowed === false
  } catch (error) {
    // If the authentication fails or the API server is unreachable, the process does not start.
    if (!isApiError(error) || isUnauthorized(error)) throw error
    // Any other error of the SelfSubjectAccessReview does not prevent the start. The first list request will show whether the permission is
    // missing.
    logger.debug({ err: error }, `the API server did not answer whether this user may ${verb} ${groupResourceOf(need)}`)
    return false
  }
}

/** Returns the types and views that controllers watch, or that webhooks or runnables read. The list has no duplicates. */
function needsOf({ operators, namespaces }: PermissionOptions): readonly Need[] {
  const needs = new Map<string, Need>()
  const add = (type: ResourceType, isPrimary: boolean): void => {
    const { group, plural, namespaced } = type
    const limited = namespacesOf(type, namespaces)
    const name = nameIn(type)
    const key = JSON.stringify([groupResourceOf(type), limited, name])
    const primary = isPrimary || (needs.get(key)?.primary ?? false)
    needs.set(key, { group, plural, namespaced, scopes: limited.length > 0 ? limited : [undefined], name, primary })
  }
  for (const { type, types } of operators.flatMap(({ controllers }) => controllers)) for (const each of types) add(each, each === type)
  const readers = operators.flatMap(({ webhooks, runnables }) => [...webhooks.map(({ settings }) => settings), ...runnables])
  for (const type of readers.flatMap(({ reads = [] }) => reads)) add(type, false)
  return [...needs.values()]
}

/** Describes refusals, for example as `list and watch pods in all namespaces, and list configmaps in the namespace "a"`. */
function describe(refusals: readonly Refusal[]): string {
  const byTarget = new Map<string, string[]>()
  for (const { need, verb, namespace } of refusals) {
    const where = namespace !== undefined ? ` in the namespace "${namespace}"` : need.namespaced ? ' in all namespaces' : ''
    const target = `${groupResourceOf(need)}${need.name === undefined ? '' : ` named "${need.name}"`}${where}`
    byTarget.set(target, [...(byTarget.get(target) ?? []), verb])
  }
  return [...byTarget].map(([target, missing]) => `${missing.join(' and ')} ${target}`).join(', and ')
}
