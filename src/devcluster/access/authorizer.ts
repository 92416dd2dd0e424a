/** Authorizes requests by the RBAC rules of users and groups. Builds kube-apiserver's message for a forbidden request. */
import { groupResourceOf } from '../../api/group-version-kind.ts'
import { quote } from '../../api/field-error.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { failure } from '../../api/status.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { StatusError } from '../apimachinery/status-error.ts'

/** The attributes of a request. `path` is set only for a non-resource request, whose `resource` is empty. */
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
  /**
   * Authorizes a request. If the request is allowed, `reason` names the binding that allows the request. If the request is denied, `reason`
   * lists problems of the user's bindings, such as a missing role. `reason` can be empty.
   */
  authorize(attributes: AuthorizationAttributes): { allowed: boolean; reason: string }
  /**
   * Returns all rules that apply to a user in a namespace, for `kubectl auth can-i --list`. `error` is empty, or lists problems of the
   * user's bindings, such as a missing role.
   */
  rulesOf?(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string }
}

/** Rules for a user or a group. If `namespace` is undefined, the rules apply in all namespaces, and also to cluster-scoped resources. */
export interface Grant {
  readonly user?: string
  readonly group?: string
  readonly namespace?: string
  readonly rules: readonly PolicyRule[]
  /** Description of the binding that grants the rules. The `reason` of an allowed request contains this description. */
  readonly source?: string
  /** The error about a binding whose role does not exist; undefined if the role exists. If `problem` is set, `rules` is empty. */
  readonly problem?: string
}

/** The group whose members may do everything. */
export const masters = 'system:masters'

/**
 * Returns an authorizer. It allows a request if the rules in `grants` or in the stored RBAC objects allow the request. Members of
 * `system:masters` may do everything.
 */
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

/** Reports whether a rule allows a non-resource request. A URL that ends in `*` matches all paths with the prefix before the `*`. */
function ruleAllowsPath({ verbs, nonResourceURLs = [] }: PolicyRule, { verb, path = '' }: AuthorizationAttributes): boolean {
  const matches = (url: string): boolean => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))
  return includes(verbs, verb) && nonResourceURLs.some(matches)
}

function includes(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value)
}

/** Throws 403 if the request is denied. */
export function requireAllowed(authorizer: Authorizer, attributes: AuthorizationAttributes): void {
  const { allowed, reason } = authorizer.authorize(attributes)
  if (!allowed) throw forbiddenError(attributes, reason)
}

/** Returns the 403 error for a denied request (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: ForbiddenStatusError). */
export function forbiddenError(attributes: AuthorizationAttributes, reason = ''): StatusError {
  const { user, verb, group, resource, subresource, namespace, name, path } = attributes
  const why = reason === '' ? '' : `: ${reason}`
  const who = `User ${quote(user.username)} cannot ${verb}`
  if (resource === '')
    return new StatusError(failure(403, 'Forbidden', `forbidden: ${notHtml(`${who} path ${quote(path ?? '')}`)}${why}`, {}))
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const subject = `${groupResourceOf({ group, plural: resource })}${name === '' ? '' : ` ${quote(name)}`}`
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource }
  const refused = notHtml(`${who} resource ${quote(what)} in API group ${quote(group)} ${where}`)
  const message = `${subject} is forbidden: ${refused}${why}`
  return new StatusError(failure(403, 'Forbidden', message, details))
}

/** Escapes `&`, `<` and `>`, so that a browser does not show the text as HTML. */
function notHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
