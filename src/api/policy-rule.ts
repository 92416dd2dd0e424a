/** `rbac.authorization.k8s.io/v1 PolicyRule`: what a part of an operator needs to be allowed. */
export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
  /** Paths that are no resources; a rule with these has no resources. */
  readonly nonResourceURLs?: readonly string[]
}
