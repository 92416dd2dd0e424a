/**
 * Compares RBAC rules: finds the rights that a list of rules does not grant (k8s.io/component-helpers/auth/rbac/validation:
 * policy_comparator.go).
 */
import { quote } from '../../api/field-error.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'

/** The permission to use one verb on one resource, on one object of a resource, or on one path. */
type Right = (
  | { readonly group: string; readonly resource: string; readonly name: string | undefined; readonly path?: undefined }
  | { readonly path: string }
) & { readonly verb: string }

/**
 * Returns the rights of `wanted` that no rule of `held` grants, as sorted texts for kube-apiserver's error message. If `held` grants all
 * rights of `wanted`, the list is empty.
 *
 * - For a resource, or for one object of a resource, one text lists all missing verbs.
 * - For a path, each missing verb has its own text.
 */
export function missingRights(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): string[] {
  const verbsOf = new Map<string, string[]>()
  const texts = new Set<string>()
  for (const right of wanted.flatMap(rightsOf)) {
    if (held.some((rule) => grants(rule, right))) continue
    if (right.path !== undefined) texts.add(`{NonResourceURLs:${quoteList([right.path])}, Verbs:${quoteList([right.verb])}}`)
    else {
      const names = right.name === undefined ? '' : `, ResourceNames:${quoteList([right.name])}`
      const subject = `APIGroups:${quoteList([right.group])}, Resources:${quoteList([right.resource])}${names}`
      verbsOf.set(subject, [...(verbsOf.get(subject) ?? []), right.verb])
    }
  }
  for (const [subject, verbs] of verbsOf) texts.add(`{${subject}, Verbs:${quoteList(verbs)}}`)
  return [...texts].toSorted()
}

/**
 * Returns the number of rights that the rules grant. A rule grants one right for each combination of:
 *
 * - an API group, a resource, a verb and, if the rule has `resourceNames`, one of these names
 * - a non-resource URL and a verb
 */
export function countRights(rules: readonly PolicyRule[]): number {
  const count = ({ apiGroups, resources, verbs, resourceNames = [], nonResourceURLs = [] }: PolicyRule): number =>
    verbs.length * (apiGroups.length * resources.length * Math.max(resourceNames.length, 1) + nonResourceURLs.length)
  return rules.reduce((sum, rule) => sum + count(rule), 0)
}

/** Formats strings as Go's `%q` formats a list. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`
}

function rightsOf({ apiGroups, resources, verbs, resourceNames = [], nonResourceURLs = [] }: PolicyRule): Right[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.flatMap((verb) => names.map((name): Right => ({ group, resource, name, verb })))),
    ),
    ...nonResourceURLs.flatMap((path) => verbs.map((verb): Right => ({ path, verb }))),
  ]
}

function grants(rule: PolicyRule, right: Right): boolean {
  const { apiGroups, resources, verbs, resourceNames = [], nonResourceURLs = [] } = rule
  if (!verbs.includes('*') && !verbs.includes(right.verb)) return false
  if (right.path !== undefined) return nonResourceURLs.some((url) => coversPath(url, right.path))
  const { group, resource, name } = right
  return (
    (apiGroups.includes('*') || apiGroups.includes(group)) &&
    coversResource(resources, resource) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  )
}

/**
 * Reports whether a rule with these resources covers `resource`. The resource `*` in a rule covers all resources and all subresources. An
 * asterisk followed by `/scale` covers the subresource `scale` of all resources.
 */
function coversResource(resources: readonly string[], resource: string): boolean {
  if (resources.includes('*') || resources.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && resources.includes(`*${resource.slice(slash)}`)
}

/** Reports whether a rule with the path `url` covers `path`. A `url` that ends in `*` covers all paths with the prefix before the `*`. */
function coversPath(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))
}
