/** Who may do what: rules for users and groups, and the API server's words for a refusal. */
import { groupResourceOf } from '../../api/group-version-kind.ts'
import { quote } from '../../api/field-error.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../registry/request-context.ts'
import { StatusError } from '../registry/status-error.ts'

/** What somebody wants to do; `path` is set, and `resource` empty, where it is no resource. */
export interface AuthorizationAttributes {
  readonly user: UserInfo
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path?: string
}

export interface Authorizer {
  /** The reason of a refusal is what is wrong with the roles, where something is. */
  authorize(attributes: AuthorizationAttributes): { allowed: boolean; reason: string }
  /** All rules of a user in a namespace, for `kubectl auth can-i --list`; `error` as in refusals. */
  rulesOf?(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string }
}

/** Rules for one user or one group, in one namespace or, without it, everywhere. */
export interface Grant {
  readonly user?: string
  readonly group?: string
  readonly namespace?: string
  readonly rules: readonly PolicyRule[]
  /** Where it comes from, for who asks why something is allowed. */
  readonly source?: string
  /** Why it has no rules: the role is not there. */
  readonly problem?: string
}

/** The group that may do everything. */
export const masters = 'system:masters'

/** An authorizer that knows the given rules and the stored ones, and that `system:masters` may do everything. */
export function ruleAuthorizer(grants: readonly Grant[] = [], stored: () => readonly Grant[] = () => []): Authorizer {
  const grantsOf = (user: UserInfo, namespace: string): readonly Grant[] =>
    [...grants, ...stored()].filter(
      (grant) =>
        (grant.namespace === undefined || grant.namespace === namespace) &&
        (grant.user === user.username || (grant.group !== undefined && user.groups.includes(grant.group))),
    )
  return {
    rulesOf(user, namespace) {
      const own = grantsOf(user, namespace)
      return { rules: own.flatMap(({ rules }) => rules), error: problemsOf(own) }
    },
    authorize(attributes) {
      const { user, namespace, resource } = attributes
      if (user.groups.includes(masters)) return { allowed: true, reason: '' }
      const own = grantsOf(user, namespace)
      const allows = resource === '' ? ruleAllowsPath : ruleAllows
      const allowing = own.find(({ rules }) => rules.some((rule) => allows(rule, attributes)))
      if (allowing !== undefined)
        return { allowed: true, reason: allowing.source === undefined ? '' : `RBAC: allowed by ${allowing.source}` }
      const problems = problemsOf(own)
      return { allowed: false, reason: problems === '' ? '' : `RBAC: ${problems}` }
    },
  }
}

function problemsOf(grants: readonly Grant[]): string {
  const problems = [...new Set(grants.flatMap(({ problem }) => (problem === undefined ? [] : [problem])))]
  return problems.length > 1 ? `[${problems.join(', ')}]` : (problems[0] ?? '')
}

function ruleAllows(rule: PolicyRule, { verb, group, resource, subresource, name }: AuthorizationAttributes): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return (
    includes(rule.verbs, verb) &&
    includes(rule.apiGroups, group) &&
    (includes(rule.resources, combined) || (subresource !== '' && rule.resources.includes(`*/${subresource}`))) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  )
}

/** A URL ends with `*` where it stands for all that begin so. */
function ruleAllowsPath({ verbs, nonResourceURLs = [] }: PolicyRule, { verb, path = '' }: AuthorizationAttributes): boolean {
  const matches = (url: string): boolean => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))
  return includes(verbs, verb) && nonResourceURLs.some(matches)
}

function includes(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value)
}

/** The 403 for somebody who may not. */
export function forbiddenError(attributes: AuthorizationAttributes, reason = ''): StatusError {
  const { user, verb, group, resource, subresource, namespace, name, path } = attributes
  const why = reason === '' ? '' : `: ${reason}`
  const who = `User ${quote(user.username)} cannot ${verb}`
  if (resource === '') return new StatusError(failure(403, 'Forbidden', `forbidden: ${who} path ${quote(path ?? '')}${why}`, {}))
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const subject = `${groupResourceOf({ group, plural: resource })}${name === '' ? '' : ` ${quote(name)}`}`
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource }
  const message = `${subject} is forbidden: ${who} resource ${quote(what)} in API group ${quote(group)} ${where}${why}`
  return new StatusError(failure(403, 'Forbidden', message, details))
}
