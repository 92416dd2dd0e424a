import type { OptionCheck } from './option-checks.ts'
import { hasOptions, isListOf, isText } from './option-checks.ts'

/** An RBAC rule that a controller or webhook of an operator needs (`rbac.authorization.k8s.io/v1 PolicyRule`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
  /** Paths that are not resources, e.g. `/metrics`. A rule with these paths has no resources. */
  readonly nonResourceURLs?: readonly string[]
}

const texts = isListOf(isText)
const fields = { apiGroups: texts, resources: texts, verbs: texts, resourceNames: texts, nonResourceURLs: texts }

export const isPolicyRule: OptionCheck = hasOptions(fields satisfies Record<keyof PolicyRule, OptionCheck>, [
  'apiGroups',
  'resources',
  'verbs',
])
