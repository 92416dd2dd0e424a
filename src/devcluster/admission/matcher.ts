/**
 * Selects the webhooks to call for a request, by their rules, selectors and matchPolicy
 * (k8s.io/apiserver/pkg/admission/plugin/webhook/generic: ShouldCallHook).
 */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { LabelRequirement, Labels } from '../../api/label-selector.ts'
import { matchesLabels } from '../../api/label-selector.ts'
import { notFound } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { AdmissionAttributes } from './admission.ts'
import type { Hook, HookRule } from './hook.ts'

/** Functions with which the matcher of webhooks reads the stored state. */
export interface MatchState {
  /** The labels of a namespace; undefined when the namespace does not exist. */
  namespaceLabels(name: string): Labels | undefined
  /** Returns the rows of the resource catalog for the other served versions of a type. */
  otherVersions(info: ResourceInfo): readonly ResourceInfo[]
}

/**
 * Returns the `ResourceInfo` of the API version in which the webhook receives the objects of the request. If the webhook does not match the
 * request, returns undefined.
 */
export function matchHook(hook: Hook, attributes: AdmissionAttributes, state: MatchState): ResourceInfo | undefined {
  // Webhooks are never called for objects of this group, such as webhook configurations. If webhooks were called for such objects, a broken
  // webhook could prevent changes of its own configuration.
  if (attributes.info.group === 'admissionregistration.k8s.io') return undefined
  const info = matchRules(hook, attributes, state)
  if (info === undefined) return undefined
  if (!matchesNamespace(hook.namespaceSelector, attributes, state)) return undefined
  return matchesObject(hook.objectSelector, attributes) ? info : undefined
}

function matchRules(hook: Hook, attributes: AdmissionAttributes, state: MatchState): ResourceInfo | undefined {
  const matches = (info: ResourceInfo): boolean => hook.rules.some((rule) => matchesRule(rule, attributes, info))
  if (matches(attributes.info)) return attributes.info
  if (hook.matchPolicy === 'Exact') return undefined
  return state.otherVersions(attributes.info).find(matches)
}

function matchesRule(rule: HookRule, attributes: AdmissionAttributes, info: ResourceInfo): boolean {
  return (
    matchesScope(rule.scope, attributes) &&
    includes(rule.operations, attributes.operation) &&
    includes(rule.apiGroups, info.group) &&
    includes(rule.apiVersions, info.version) &&
    rule.resources.some((pattern) => matchesResource(pattern, info.plural, attributes.subresource))
  )
}

function includes(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes('*') || values.includes(value))
}

// Matches a resource pattern of a rule: `pods`, `pods/status`, `pods/*` (Pods and all their subresources), `*/status`, `*` (all resources
// without subresources), or `*/*`.
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const [wantedResource, wantedSubresource] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return (wantedResource === '*' || wantedResource === resource) && (wantedSubresource === '*' || wantedSubresource === subresource)
}

function matchesScope(scope: string | undefined, { info }: AdmissionAttributes): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (info.namespaced ? 'Namespaced' : 'Cluster')
}

export function isNamespaceType(info: ResourceInfo): boolean {
  return info.group === '' && info.plural === 'namespaces'
}

function matchesNamespace(selector: readonly LabelRequirement[], attributes: AdmissionAttributes, state: MatchState): boolean {
  if (selector.length === 0) return true
  const { info, namespace = '', name } = attributes
  if (isNamespaceType(info)) {
    // For a Namespace that is created or updated, the selector applies to the labels of the new object. For a Namespace that is deleted,
    // the selector applies to the stored labels.
    const labels = attributes.object === undefined ? state.namespaceLabels(name) : labelsOf(attributes.object)
    return matchesLabels(selector, labels ?? {})
  }
  if (!info.namespaced) return true
  const labels = state.namespaceLabels(namespace)
  if (labels === undefined) throw notFound({ group: '', kind: 'Namespace', plural: 'namespaces' }, namespace)
  return matchesLabels(selector, labels)
}

function matchesObject(selector: readonly LabelRequirement[], { object, oldObject }: AdmissionAttributes): boolean {
  if (selector.length === 0) return true
  return [object, oldObject].some((candidate) => candidate !== undefined && matchesLabels(selector, labelsOf(candidate)))
}

export function labelsOf(object: JsonObject): Labels {
  const labels = isObject(object.metadata) ? object.metadata.labels : undefined
  return isObject(labels) ? (labels as Labels) : {}
}
