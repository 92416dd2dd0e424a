/** The RBAC roles of the operator process, and roles for users of the operators' kinds. */
import type { JsonObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import type { InstallationNames } from '../manager/installation-names.ts'
import { labelsOf } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import { convertedDefinitions } from '../manager/operator.ts'
import { kindsOf } from '../manager/shared-kinds.ts'

const readVerbs = ['get', 'list', 'watch'] as const

/** Returns the rules that the operators need in the namespaces that they watch. */
function rulesOf(operators: readonly Operator[]): PolicyRule[] {
  return mergeRules([
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ...operators.flatMap(({ kinds, controllers, webhooks, runnables, rbac }) => [
      ...kinds.flatMap(rulesForKind),
      ...controllers.flatMap((controller) => controller.rbac),
      ...webhooks.flatMap(({ settings: { rbac: own = [], reads = [] } }) => [...own, ...reads.map(readRule)]),
      ...runnables.flatMap(({ reads = [] }) => reads.map(readRule)),
      ...rbac,
    ]),
  ])
}

function readRule({ group, plural }: { readonly group: string; readonly plural: string }): PolicyRule {
  return { apiGroups: [group], resources: [plural], verbs: readVerbs }
}

function rulesForKind({ group, plural }: Kind): PolicyRule[] {
  return [
    readRule({ group, plural }),
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch', 'update'] },
    // If the admission plugin OwnerReferencesPermissionEnforcement is enabled, creating a dependent with `blockOwnerDeletion` requires
    // permission to update `finalizers` of its owner.
    { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
  ]
}

/** The rules for authenticating and authorizing clients of the metrics and debug endpoints. */
const reviewRules: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
]

/** Returns the ClusterRole for clients that scrape the metrics, such as Prometheus. */
export function metricsReaderRole({ installation }: InstallationNames): JsonObject {
  const rule: PolicyRule = { apiGroups: [], resources: [], nonResourceURLs: ['/metrics'], verbs: ['get'] }
  return clusterRole(`${installation}-metrics-reader`, [rule], labelsOf(installation))
}

/**
 * Returns the ClusterRole of the operator process. It includes the rules for maintaining the `caBundle` of the webhook configurations, and
 * for authenticating and authorizing the clients of the metrics.
 */
export function managerRole(operators: readonly Operator[], names: InstallationNames): JsonObject {
  const injection: PolicyRule = {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: [names.mutatingConfiguration, names.validatingConfiguration],
    verbs: ['get', 'patch'],
  }
  const rules = mergeRules([...rulesOf(operators), injection, ...definitionInjection(operators), ...reviewRules])
  return clusterRole(names.managerRole, rules, labelsOf(names.installation))
}

/** Returns the ClusterRoleBinding that grants the ClusterRole of the process to the ServiceAccount of the installation. */
export function managerRoleBinding({ installation, namespace, managerRole: name }: InstallationNames): JsonObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: labelsOf(installation) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: installation, namespace }],
  }
}

/** Returns the rules for maintaining the `caBundle` of conversion webhooks in CRDs. */
function definitionInjection(operators: readonly Operator[]): PolicyRule[] {
  const resourceNames = convertedDefinitions(operators)
  if (resourceNames.length === 0) return []
  return [{ apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], resourceNames, verbs: ['get', 'patch'] }]
}

/**
 * Returns two objects: a Role that allows the use of the Lease for leader election, and a RoleBinding of this Role to the ServiceAccount of
 * the installation.
 */
export function leaderElectionRole(names: InstallationNames): JsonObject[] {
  return roleForOne(names, names.leaderLease, { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }, ['get', 'update', 'watch'])
}

/**
 * Returns two objects: a Role that allows the use of the Secret in which the operator stores the CA of its webhooks, and a RoleBinding of
 * this Role to the ServiceAccount of the installation.
 */
export function webhookCaRole(names: InstallationNames): JsonObject[] {
  return roleForOne(names, names.caSecret, { apiGroups: [''], resources: ['secrets'] }, ['get', 'update'])
}

/**
 * Returns a Role that allows the use of one object, and a RoleBinding of this Role to the ServiceAccount of the installation. The object,
 * the Role and the RoleBinding have the name `name`, and are in the namespace of the installation.
 */
function roleForOne(
  { installation, namespace }: InstallationNames,
  name: string,
  target: { readonly apiGroups: string[]; readonly resources: string[] },
  verbs: string[],
): JsonObject[] {
  const metadata = { name, namespace, labels: labelsOf(installation) }
  const rules = [
    { ...target, resourceNames: [name], verbs },
    // The rule has no resourceNames, because RBAC cannot compare the name of an object that is being created.
    { ...target, verbs: ['create'] },
  ]
  return [
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name: installation, namespace }],
    },
  ]
}

/**
 * Returns two ClusterRoles for each kind: a viewer role that is aggregated to `view`, and an editor role that is aggregated to `edit` and
 * `admin`.
 */
export function userRoles(operators: readonly Operator[], installation: string): JsonObject[] {
  const kinds = kindsOf(operators)
  return kinds.flatMap(({ group, plural, singular }) => {
    // If two groups have kinds with the same name, the role names of these kinds contain the group.
    const isUnique = kinds.filter((kind) => kind.singular === singular).length === 1
    const subject = isUnique ? singular : `${plural}.${group}`
    const status: PolicyRule = { apiGroups: [group], resources: [`${plural}/status`], verbs: ['get'] }
    const role = (suffix: string, verbs: readonly string[], aggregateTo: readonly string[]): JsonObject =>
      clusterRole(`${installation}-${subject}-${suffix}`, [{ apiGroups: [group], resources: [plural], verbs }, status], {
        ...labelsOf(installation),
        ...Object.fromEntries(aggregateTo.map((target) => [`rbac.authorization.k8s.io/aggregate-to-${target}`, 'true'])),
      })
    return [
      role('viewer', readVerbs, ['view']),
      role('editor', ['create', 'delete', 'deletecollection', ...readVerbs, 'patch', 'update'], ['edit', 'admin']),
    ]
  })
}

function clusterRole(name: string, rules: readonly PolicyRule[], labels: JsonObject): JsonObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: rules.map(ruleJson),
  }
}

/**
 * Returns a rule without its empty lists, which the API server does not store. With empty lists, `kubectl apply` would report a change each
 * time.
 */
function ruleJson(rule: PolicyRule): JsonObject {
  return Object.fromEntries(Object.entries(rule).filter(([, list]) => (list as readonly string[]).length > 0)) as unknown as JsonObject
}

/**
 * Merges the verbs of rules for the same resource and resourceNames, and of rules for the same non-resource URL. The result is sorted, so
 * the generated files are stable.
 */
export function mergeRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, Set<string>>()
  const targets = new Map<string, Omit<PolicyRule, 'verbs'>>()
  const add = (key: string, target: Omit<PolicyRule, 'verbs'>, verbs: readonly string[]): void => {
    targets.set(key, target)
    merged.set(key, new Set([...(merged.get(key) ?? []), ...verbs]))
  }
  for (const { verbs, ...target } of rules) {
    for (const url of target.nonResourceURLs ?? []) add(url, { apiGroups: [], resources: [], nonResourceURLs: [url] }, verbs)
    for (const apiGroup of target.apiGroups) {
      for (const resource of target.resources) {
        const single = {
          apiGroups: [apiGroup],
          resources: [resource],
          ...(target.resourceNames && { resourceNames: [...target.resourceNames].sort() }),
        }
        const key = [apiGroup, resource, ...(single.resourceNames ?? [])].join(' ')
        add(key, single, verbs)
      }
    }
  }
  return [...targets.keys()].sort().map((key) => ({ ...targets.get(key)!, verbs: [...merged.get(key)!].sort() }))
}
